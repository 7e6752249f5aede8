# The first target that needs it makes one environment, .venv; `make` alone lists the targets.
PYTHON ?= python3
SUBMITTED ?= course/submitted

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
TORCH := $(shell sed -n 's/^torch==\([0-9.]*\).*/torch==\1/p' constraints.txt)
TORCH_CPU := https://download.pytorch.org/whl/cpu
# Looked up now: further down .venv/bin is put first, and a .venv must not be made from itself.
BASE := $(shell command -v $(PYTHON) 2>/dev/null)
IN_RANGE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
# faulthandler ends the process after 5 s, in the look-up of the host name too, which a timeout
# given to urlopen does not bound.
PROBE := import faulthandler, urllib.request as web; \
  faulthandler.dump_traceback_later(5, exit=True); web.urlopen("$(TORCH_CPU)/torch/")

# pip 23.2, which comes with Python 3.11, chooses versions slowly: with a newer one the environment is
# ready 12 to 21 s sooner, out of 66 to 89 (AMD EPYC, November 2026). Where an index lacks it, the old
# one does.
NEW_PIP := pip==26.3

# pip compiles on one core, which is half of its work here. So torch is compiled while pip installs
# the rest, and the rest on every core. Some packages hold files that are no Python of this version:
# they are left as they are. It must be done before anything is graded: the sandbox cannot write what
# it compiles, and would do so at every start.
COMPILE := $(PY) -m compileall -qq $(VENV)/lib -j

# nbgrader calls `alembic` by its bare name.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Images for containers forbid Python to keep what it compiles. Every process would then compile the
# course and its tests anew: grading and `make test` start hundreds.
export PYTHONDONTWRITEBYTECODE :=

# Without JupyterLab's question about news; `specdec start` has settings of its own, for students.
LAB_SETTINGS := $(CURDIR)/autograde/jupyter

.DEFAULT_GOAL := help
.PHONY: course test lab grader build solutions grade bench site lint clean help

course: $(READY)  ## build everything, grade a sample class, run every solution
	@$(PY) -m autograde.tools.demo

test: $(READY)  ## run the tests (not the slow ones: see CONTRIBUTING.md)
	@$(PY) -m pytest -n 3 --dist worksteal

lab: $(READY)  ## copy the chapters to work/, once, and open JupyterLab there
	@$(VENV)/bin/specdec start

grader: $(READY)  ## open JupyterLab at the repository root, with nbgrader's formgrader
	@JUPYTER_CONFIG_PATH="$(LAB_SETTINGS):$$JUPYTER_CONFIG_PATH" $(PY) -m jupyter lab

build: $(READY)  ## rebuild the notebooks from solutions/*.py
	@$(VENV)/bin/autograde build

solutions: $(READY)  ## execute the solution notebooks into build/solutions/
	@$(VENV)/bin/autograde build --solutions

grade: $(READY)  ## grade SUBMITTED (course/submitted) into build/grades.json
	@mkdir -p build
	@$(VENV)/bin/autograde grade "$(SUBMITTED)" --json build/grades.json

bench: $(READY)  ## measure the decoder (5 minutes)
	@$(PY) -m specdec_lib.measure.bench --json build/bench.json

site: $(VENV)/.site  ## make the web pages of chapters, guides and slides in build/site/
	@$(PY) -m autograde.tools.site

lint: $(READY)  ## check style, and that the notebooks are in step with their sources
	@$(PY) -m pre_commit run --all-files

clean:  ## remove build/, which can be made again; never course/ or work/
	@rm -rf build

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: PYTHON=python3.12 (for a new .venv), SUBMITTED=folder (for make grade)"

# An environment does not survive a move of the folder: what is installed holds absolute paths.
ifeq ($(shell grep -sF '$(CURDIR)/$(VENV)' $(VENV)/bin/activate),)
.PHONY: $(READY)
endif

$(READY): pyproject.toml constraints.txt
	@if ! grep -qsF '$(CURDIR)/$(VENV)' $(VENV)/bin/activate \
	    || ! $(PY) -c '$(IN_RANGE)' 2>/dev/null; then \
	  "$(BASE)" -c '$(IN_RANGE)' 2>/dev/null || { \
	    echo "The course needs Python 3.11 to 3.13, and $(PYTHON) is" \
	      "$$("$(BASE)" -V 2>/dev/null || echo missing). Name one: make PYTHON=python3.12"; \
	    exit 1; }; \
	  echo "Making $(VENV) with $(BASE)"; \
	  "$(BASE)" -m venv --clear $(VENV); \
	fi
	@$(PY) -m pip install --quiet --upgrade $(NEW_PIP) 2>/dev/null || true
	@from=; build="the build of the default index, which may bring 3 GB of CUDA libraries"; \
	if [ "$$(uname -s)" != Linux ]; then \
	  build="the build of the default index"; why="because this is not Linux"; \
	elif nvidia-smi >/dev/null 2>&1; then why="because there is an NVIDIA driver"; \
	elif $(PY) -c '$(PROBE)' >/dev/null 2>&1; then \
	  from="--no-deps --index-url $(TORCH_CPU)"; \
	  build="the CPU build"; why="because there is no NVIDIA driver"; \
	else why="because $(TORCH_CPU), which has the CPU build, does not answer"; fi; \
	echo "Installing $(TORCH): $$build, $$why"; \
	$(PY) -m pip install --quiet --no-compile -c constraints.txt $$from $(TORCH)
	@echo "Installing the other packages of constraints.txt (minutes, the first time)"
	@$(COMPILE) 1 & \
	$(PY) -m pip install --quiet --no-compile -c constraints.txt -e '.[course,instructor,dev]' \
	  || exit 1; \
	wait; $(COMPILE) 0 || true
	@touch $@
	@echo "The environment is ready: $(VENV)"

# Once, so that the pages are made again without a network.
$(VENV)/.site: $(READY)
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[site]'
	@touch $@

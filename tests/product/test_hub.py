"""docs/jupyterhub.md, followed: from an empty machine to feedback in a student's browser.

The boxes of the page are run as they stand there, with folders, accounts and ports of this test.
"""

import re
import subprocess
from types import SimpleNamespace

import campus.machine
import nbformat
import pytest
from campus import guide
from campus.machine import Machine, machine
from campus.people import Instructor, Student
from classes.submitting import CHAPTER, cell_of, right

from autograde.build.bundle import write_bundle
from autograde.chapter import ROOT
from autograde.submission import release_of
from autograde.tools.samples import solutions_of

TYPED = "acceptance_probability"  # the answer that ada types in the browser
WRONG = f"def {TYPED}(p, q, token):\n    return 1.0"
NOTEBOOK = f"{CHAPTER}/{CHAPTER}.ipynb"


def test_every_box_says_who_runs_it_and_pins_are_those_of_the_lock():
    lock = (ROOT / "constraints.txt").read_text().split()
    text = "".join(box.commands for box in guide.boxes())
    pins = re.findall(r"(?<![\w@/-])[\w-]+==[\w.]+", text)
    assert {pin.split("==")[0] for pin in pins} == {"jupyterhub", "nbgitpuller", "numpy", "torch"}
    assert set(pins) <= set(lock)


def test_the_image_is_made_of_the_pages_own_words():
    *others, settings, _ = guide.steps()
    assert settings == guide.box("root", "labconfig").commands
    pins = set(re.findall(r"[\w-]+==[\w.]+", "\n".join(others)))
    assert pins and pins <= set((ROOT / "constraints.txt").read_text().split())


def test_without_the_extra_hub_these_tests_are_left_out_with_a_line(monkeypatch):
    monkeypatch.setattr(campus.machine, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(campus.machine.os, "getuid", lambda: 0, raising=False)
    monkeypatch.setattr(campus.machine.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(campus.machine, "find_spec", lambda name: None)
    assert campus.machine.why_not() == "the extra hub is not installed (pip install -e .[hub])"


def put_repository(place: Machine) -> None:
    """A repository of the working tree, where kim can clone it."""
    folder = place.base / "repository"
    copy = f"""
git ls-files -co --exclude-standard -z | xargs -0 cp --parents --target-directory {folder}
cd {folder}; git init -q; git add .
git -c user.name=a -c user.email=a@example.org commit -q -m "The course"
chown -R {place.names["kim"]} .
"""
    folder.mkdir()
    subprocess.run(["bash", "-eu"], input=copy, text=True, cwd=ROOT, check=True)
    place.addresses["REPOSITORY"] = str(folder)


def install(place: Machine) -> None:
    """Sections 1 to 4."""
    accounts, environment, *others = guide.boxes()
    place.run(accounts)
    put_repository(place)
    place.shell("root", re.search(r"^python3 -m venv.*$", environment.commands, re.M)[0])
    place.lend()
    place.run(environment)
    for box in others[: others.index(guide.box("kim", "doctor"))]:
        if guide.CPU_BUILD not in box.commands:
            place.run(box)


def answers(place: Machine, student: str, **changes: str) -> None:
    """What somebody has written at home into the notebook that was fetched."""
    nbformat.write(right(**changes), place.home(student) / NOTEBOOK)


def study(ada: Student, place: Machine) -> None:
    """Section 5, by buttons: fetch, solve, validate, submit. Most answers were written before."""
    assert ada.tools() == ["Assignment List"]
    ada.list_assignments()
    ada.press_button("Fetch", "Submit")
    answers(place, "ada", **{TYPED: cell_of(release_of(CHAPTER), TYPED).source})
    ada.open(NOTEBOOK)
    ada.click_into(f"{TYPED}: not written yet")
    ada.write(solutions_of(CHAPTER)[TYPED])
    assert "Success" in ada.validate()
    ada.list_assignments()
    ada.press_button("Submit", "Fetch Feedback")


def cheat(place: Machine) -> None:
    """ben fetches, hands in, looks at what is not his, and hands in once more in ada's name."""
    place.shell("ben", f"nbgrader fetch_assignment {CHAPTER}")
    answers(place, "ben", **{TYPED: WRONG})
    place.shell("ben", f"cd; nbgrader submit {CHAPTER}")
    for private in ("/home/kim", "/home/ada", "/srv/hub", "/srv/exchange/specdec/inbound"):
        assert "Permission denied" in place.shell("ben", f"ls {private}", code=2)
    assert "No module named" in place.shell("ben", "python -c 'import autograde'", code=1)
    inbound = "/srv/exchange/specdec/inbound"
    name = f"ada+{CHAPTER}+2999-01-01 00:00:00.000000 UTC+forged"
    place.shell("ben", f"cp -r {CHAPTER} '{inbound}/{name}'; chmod 755 '{inbound}/{name}'")


def mark(kim: Instructor) -> None:
    """Section 6, by buttons: formgrader knows the names, and keeps points and a comment."""
    kim.start()
    kim.open_submission("Lovelace, Ada")
    assert sum(kim.points().values()) == 22.0
    assert kim.mark("why_residual", "1.5") and kim.comment("Good; *say why* it adds to one.")


def read_feedback(ada: Student, place: Machine) -> str:
    """Section 5 again: fetch feedback, view it; returns what the page says."""
    ada.list_assignments()
    ada.press_button("Fetch Feedback", "(view feedback)")
    ada.page.get_by_text("(view feedback)").click()
    ada.page.get_by_text(f"{CHAPTER}.html").dblclick()
    return " ".join(ada.page.frame_locator("iframe").locator("body").inner_text().split())


def pull(ada: Student, place: Machine) -> None:
    """By link: kim makes a repository of the bundle, and ada's click brings it."""
    folder = place.base / "host" / "handout.git"
    place.shell("root", f"install -d -o kim {folder}")
    place.shell("kim", f"git init --quiet --bare {folder}")
    place.addresses["HANDOUT"] = str(folder)
    place.run(guide.box("kim", "HANDOUT"))
    link = re.search(r"`HUB(/hub/user-redirect/git-pull\S+)`", guide.PAGE.read_text())[1]
    with place.serve("kim", folder.parent) as address:
        place.addresses["HANDOUT"] = f"{address}/handout.git"
        ada.page.goto(ada.hub + place.here(link))
        ada.page.wait_for_url("**/lab/tree/specdec-course/notebooks**")
    copied = place.home("ada") / "specdec-course"
    assert (copied / "notebooks" / NOTEBOOK).is_file() and not (copied / "solutions").exists()


@pytest.mark.slow
@pytest.mark.hub
@pytest.mark.browser
def test_the_page_leads_from_an_empty_machine_to_feedback(browser):
    with machine() as place:
        install(place)
        hub = place.start_hub()
        lines = place.path("/srv/hub/passwords").read_text().split()
        passwords = dict(line.split(":") for line in lines)
        ada, kim = (
            kind(browser, hub, name, passwords[name])
            for kind, name in ((Student, place.names["ada"]), (Instructor, place.names["kim"]))
        )
        with place.meanwhile(guide.box("kim", "doctor")) as release:
            ada.log_in()
        assert "every attack was stopped" in release.result()
        study(ada, place)
        cheat(place)
        with place.meanwhile(guide.box("kim", "nbgrader collect")) as collect:
            kim.log_in()
        assert "is taken as its owner's" in collect.result()
        mark(kim)
        place.run(guide.box("kim", "release_feedback"))
        said = read_feedback(ada, place)
        assert "23.5 of 24 points" in said and "Comment: Good; say why it adds to one." in said
        pull(ada, place)
        assert ada.outside == kim.outside == []


@pytest.mark.slow
@pytest.mark.hub
def test_the_steps_of_the_image_make_what_a_student_needs():
    """Without a container: its folders and its account are others, as those of the page."""
    with machine() as place:
        write_bundle(place.path("/opt/specdec-course.zip"))
        for step in guide.steps():
            place.shell("root", step)
            place.lend()
        said = place.shell("learner", "jupyterhub-singleuser --version; python -c 'import torch'")
        assert said.startswith("6.")
        place.shell("learner", "python -c 'from specdec_lib.lessons.ch02 import checks'")
        said = place.shell("learner", "jupyter server extension list; jupyter labextension list")
        assert re.search(r"formgrader.*disabled", said)
        assert re.search(r"assignment_list.*enabled", said)
        assert "No module named" in place.shell("learner", "python -c 'import autograde'", code=1)

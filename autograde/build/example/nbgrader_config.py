"""The nbgrader course. Settings of a class stand in a file of this name in its own folder."""

from pathlib import Path

from autograde.course import set_root

set_root(Path(__file__).resolve().parent)

from autograde.nbgrader import config  # noqa: E402  it needs the course

config.configure(get_config(), load_subconfig)  # noqa: F821  traitlets puts both here

"""Whose code an error comes from: the reader's own, or the course's and what is installed."""

import dis
import re
import sysconfig
import traceback
from importlib import metadata
from pathlib import Path

#: Where code stands that is not the reader's: this package, Python's own, and what pip installs.
NOT_THEIRS = (
    *(str(Path(__file__).parent), "<frozen "),
    *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")),
)


class Unusable(RuntimeError):
    """A library that is missing here or cannot be used; the text says what to install."""


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the reader's own code through which `error` came, the last one last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not frame.filename.startswith(NOT_THEIRS)]


def told(error: BaseException) -> str:
    """The error, and the last line of the reader's own that led to it."""
    own = own_frames(error)
    at = f", at `{own[-1].line}`" if own and own[-1].line else ""
    return f"raised {type(error).__name__}: {error}{at}"


def is_unwritten(error: BaseException) -> bool:
    """Whether a `raise NotImplementedError` of the reader's own ended it, as in a stub.

    Libraries have the same exception for what they cannot do, and torch raises it inside a call.
    """
    last = error.__traceback__
    if not isinstance(error, NotImplementedError) or last is None:
        return False
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    by_statement = dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return by_statement and not code.co_filename.startswith(NOT_THEIRS)


def unusable(library: str, error: Exception) -> Exception:
    """What to raise where `library` has failed: which version is wanted, and which is here.

    It is `error` itself if the version that is wanted is here.
    """
    wanted, here = _wanted(library), _installed(library)
    if here == wanted:
        return error
    return Unusable(
        f"This needs {wanted.replace('==', ' ')}, and {here.replace('==', ' ')} is installed here "
        f"({type(error).__name__}: {error}). Run `pip install {wanted}` (in a notebook `%pip`), "
        "and start Python, or the notebook's kernel, again."
    )


def _wanted(library: str) -> str:
    """The library as the course pins it, "transformers==5.23.0"; its name if there is no pin."""
    try:
        needed = metadata.requires("specdec-course") or []
    except metadata.PackageNotFoundError:  # the course's folder alone
        needed = []
    pins = (re.match(rf"{library}==[\w.]+", each) for each in needed)
    return next((pin[0] for pin in pins if pin), library)


def _installed(library: str) -> str:
    """The library with its version here, "transformers==4.57.1"; "no transformers" without one."""
    try:
        return f"{library}=={metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return f"no {library}"

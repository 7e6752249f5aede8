"""Whose code an error comes from: the reader's own, or the course's and what is installed."""

import sysconfig
import traceback
from pathlib import Path

#: The folder of this package, and those of the packages that it is in, the outermost last.
PACKAGE_FOLDERS = [str(folder) for folder in Path(__file__).parents[: __name__.count(".")]]
#: Where code stands that is not the reader's: the course's, Python's own, and what pip installs.
_COURSE_AND_LIBRARIES = (
    *(PACKAGE_FOLDERS[-1], "<frozen "),
    *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")),
)


def student_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of the reader's own code through which `error` came, the last one last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not frame.filename.startswith(_COURSE_AND_LIBRARIES)]


def error_text(error: BaseException) -> str:
    """The error, and the last line of the reader's own that led to it."""
    own = student_frames(error)
    at = f", at `{own[-1].line}`" if own and own[-1].line else ""
    return f"raised {type(error).__name__}{f': {error}' if str(error) else ''}{at}"


def is_unwritten(error: BaseException) -> bool:
    """Whether a `raise NotImplementedError` of the reader's own ended it, as in a stub.

    Libraries have the same exception for what they cannot do, and torch raises it inside a call.
    """
    last = error.__traceback__
    if not isinstance(error, NotImplementedError) or last is None:
        return False
    import dis  # which every worker of the grader would wait for

    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code
    by_statement = dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return by_statement and not code.co_filename.startswith(_COURSE_AND_LIBRARIES)

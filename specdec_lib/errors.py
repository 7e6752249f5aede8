"""The errors that are told in a line, without a traceback. Any other error is a bug."""

import re
from importlib import metadata


class UsageError(ValueError):
    """Something that the caller can mend; the message says what is wrong and what to do."""


class LibraryError(UsageError):
    """A library that is missing here or cannot be used; the message says what to install."""


def library_error(library: str, error: Exception) -> Exception:
    """What to raise where `library` has failed: which version is wanted, and which is here.

    It is `error` itself if the version that is wanted is here.
    """
    wanted, here = _wanted(library), _installed(library)
    if here == wanted:
        return error
    return LibraryError(
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

"""Errors that the commands print in a line, without a traceback. Any other error is a bug."""

import re
from importlib import metadata


class SpecdecError(ValueError):
    """An error that the caller can mend; the message says what is wrong and what to do."""


class DependencyError(SpecdecError):
    """A library is missing or unusable; the message says what to install."""


def dependency_error(library: str, error: Exception) -> Exception:
    """The DependencyError to raise after `library` raised `error`: wanted and installed version.

    It is `error` itself if the wanted version is installed.
    """
    wanted, installed = _pinned_version(library), installed_version(library)
    if installed == wanted:
        return error
    return DependencyError(
        f"This needs {wanted.replace('==', ' ')}, and {installed.replace('==', ' ')} is installed "
        f"here ({type(error).__name__}: {error}). Run `pip install {wanted}` (in a notebook `%pip`)"
        ", and start Python, or the notebook's kernel, again."
    )


def _pinned_version(library: str) -> str:
    """The library as the course pins it, "transformers==5.23.0"; its name if there is no pin."""
    try:
        requirements = metadata.requires("specdec-course") or []
    except metadata.PackageNotFoundError:  # the course's folder alone
        requirements = []
    pins = (re.match(rf"{library}==[\w.]+", requirement) for requirement in requirements)
    return next((pin[0] for pin in pins if pin), library)


def installed_version(library: str) -> str:
    """The library with its installed version, "transformers==4.57.1"; "no transformers" if none."""
    try:
        return f"{library}=={metadata.version(library)}"
    except metadata.PackageNotFoundError:
        return f"no {library}"

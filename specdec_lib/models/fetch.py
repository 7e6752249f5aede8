"""Published weights in the user's cache: `specdec fetch smollm2-135m`."""

import os
from pathlib import Path

import platformdirs

from specdec_lib.models.catalogue import SMOLLM2, PairError


def cache_folder() -> Path:
    """Where fetched models are kept: $SPECDEC_CACHE, else the user's cache folder."""
    return Path(os.environ.get("SPECDEC_CACHE") or platformdirs.user_cache_path("specdec"))


def fetched_folder(name: str = SMOLLM2) -> Path:
    """The folder of a model that was fetched. Raises PairError if it was not."""
    folder = cache_folder() / name
    if not (folder / "model.safetensors").exists():
        raise PairError(f"{name} is not on this machine: run `specdec fetch {name}`, once")
    return folder

"""The drafter of a pair."""

from specdec_lib.drafters.eagle import Eagle
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.models.pair import Pair


def drafter_of(pair: Pair) -> Drafter:
    """The pair's EAGLE head if it has one, else its draft model."""
    return Eagle.from_folder(pair.target, pair.head) if pair.head else ModelDrafter(pair.draft)

"""Drafters of the table of all, made on a target of the tests' own."""

from decoders.exact_drafters import ROWS, Llamas

from specdec_lib.drafters.protocol import Drafter
from specdec_lib.models.llama import Llama


def made_on(target: Llama, name: str) -> Drafter:
    """A drafter of the table of all."""
    return ROWS[name].make(Llamas(target, target))

"""The recorded passes of chapter 06's service."""

from specdec_lib.measure import served
from specdec_lib.models.pairs import load_pair


def test_passes_are_by_batch_and_new_tokens():
    found = served.of_context(load_pair(), 16, batches=(1, 3), widths=(1, 2))
    assert [len(row) for row in found["target"]] == [2, 2] and len(found["draft"]) == 2
    assert min(found["target"][1]) > 0 < min(found["draft"])

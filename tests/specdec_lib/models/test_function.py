"""A model as a function of the text: its rows are those of a whole pass, however it is asked."""

import numpy as np
import pytest
import torch
from decoders.decoding_cases import CountingModel

from specdec_lib.measure import models
from specdec_lib.models.function import logits_of

TEXTS = ([5, 6, 7], [5, 6, 7, 8], [5, 6, 9, 9, 9], [5, 6, 9], [5, 6, 9], [1])


def test_rows_are_those_of_one_pass_over_the_text():
    model = models.load_draft("small", torch.float32)
    logits = logits_of(model)
    for text in TEXTS:
        whole = model.forward(torch.tensor([text]), model.new_cache())[0]
        assert np.abs(logits(text) - whole.numpy()).max() < 1e-4
        with pytest.raises(IndexError):  # a pass that fails leaves nothing wrong
            logits([*text[:1], model.vocab_size])
    with pytest.raises(ValueError, match="give at least one token"):
        logits([])


def test_a_call_reads_only_what_is_new():
    model = CountingModel(models.load_draft("small", torch.float32))
    logits = logits_of(model)
    for text in TEXTS:
        logits(text)
    assert [[*read.values()] for read in model.passes] == [[5, 6, 7], [8], [9, 9, 9], [9], [9], [1]]

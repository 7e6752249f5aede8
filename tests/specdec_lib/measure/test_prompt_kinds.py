"""Four kinds of text as prompts."""

import pytest

from specdec_lib.assets import tokenizer
from specdec_lib.measure.prompt_kinds import COPIED_TOKENS, PROMPT_KINDS, SOURCE_TOKENS


@pytest.mark.parametrize("kind", PROMPT_KINDS)
def test_prompts_of_a_kind_are_as_many_as_asked_for_and_all_different(kind: str):
    found = PROMPT_KINDS[kind](64)
    assert len({tuple(prompt) for prompt in found}) == 64
    assert found[:8] == PROMPT_KINDS[kind](8) and max(map(len, found)) < 256
    with pytest.raises(ValueError, match=r"the held-out text has \d+ \w+, not 100000"):
        PROMPT_KINDS[kind](100_000)


def test_a_copy_repeats_its_source_with_one_name_changed():
    words = tokenizer()
    for prompt in PROMPT_KINDS["copy and edit"](8):
        source, copy = (
            words.decode(prompt[:SOURCE_TOKENS]),
            words.decode(prompt[SOURCE_TOKENS:]).lstrip("\n"),
        )
        begun = words.decode(prompt[:COPIED_TOKENS]).lstrip("\n")
        assert copy.replace("new_", "", 1).rstrip() == begun.rstrip() and begun.rstrip() in source

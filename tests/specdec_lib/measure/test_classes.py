"""Token classes by Python's tokenizer, and how the positions of each class are judged."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from specdec_lib import assets
from specdec_lib.assets import Document
from specdec_lib.measure import classes
from specdec_lib.measure.classes import (
    CLASSES,
    character_classes,
    judged,
    spans,
    token_classes,
)
from specdec_lib.measure.core import held_out

SOURCE = '''"""What it does."""


def f(x, *, y=1.5):
    'Also text.'
    # a comment
    name = f"{x!r} and {y}" + "no docstring"
    return [
        "in brackets",
        None,
    ]
'''


def pieces(source: str) -> list[tuple[str, str]]:
    return [(source[span.start : span.end], span.kind) for span in spans(source)]


def test_pieces_of_a_source():
    kinds = dict(pieces(SOURCE))
    expected = {
        '"""What it does."""': "comment",
        "def": "keyword",
        "f": "identifier",
        "x": "identifier",
        "*": "operator",
        "=": "operator",
        "1.5": "literal",
        "'Also text.'": "comment",
        "# a comment": "comment",
        'f"{x!r} and {y}"': "literal",
        '"no docstring"': "literal",
        "return": "keyword",
        '"in brackets"': "literal",
        "None": "keyword",
        "]": "operator",
    }
    assert {text: kinds[text] for text in expected} == expected
    assert set(kinds.values()) | {"whitespace"} == set(CLASSES)


@pytest.mark.parametrize(
    "line", ['f"a {x} b"\n', 'rf"a {x}"\n', "f'''a\n{x:>{n}}\n'''\n", 'f"{{x}}"\n']
)
def test_an_f_string_is_one_literal_and_no_docstring(line: str):
    assert pieces(line) == [(line.rstrip("\n"), "literal")]


def test_every_character_has_a_class():
    kinds = character_classes(SOURCE)
    assert len(kinds) == len(SOURCE)
    between = [c for c, kind in zip(SOURCE, kinds, strict=True) if kind == "whitespace"]
    assert set(between) == {" ", "\n"}


def test_lines_end_at_line_feeds_only():
    assert pieces("x = 1\n\x0c\ny = 'é'\n")[-1] == ("'é'", "literal")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return assets.tokenizer()


def test_tokens_have_classes_and_the_first_has_none(tokenizer: Tokenizer):
    source = "def f():\n    return x  # why\n"
    kinds = token_classes(source, tokenizer)
    tokens = held_out.encoded(Document("x.py", source, frozenset()), tokenizer).ids
    assert len(kinds) == len(tokens) and kinds[0] == ""
    texts = [tokenizer.decode([token]).strip() for token in tokens]
    by_text = dict(zip(texts[1:], kinds[1:], strict=True))
    assert (by_text["def"], by_text["return"], by_text["x"]) == (
        "keyword", "keyword", "identifier",
    )  # fmt: skip
    assert by_text[""] == "whitespace" and kinds[-2] == "comment"


def test_all_of_the_held_out_code_is_classified(tokenizer: Tokenizer):
    for document in assets.documents():
        if document.name.endswith(".py"):
            kinds = token_classes(document.text, tokenizer)
            assert set(kinds[1:]) <= set(CLASSES)


P = torch.tensor([0.5, 0.25, 0.25])
Q = torch.tensor([0.25, 0.5, 0.25])


def test_judged_positions_are_those_before_novel_tokens(tokenizer: Tokenizer):
    document = Document("x.py", "import os\ny = 2\n", frozenset({0}))
    tokens = held_out.encoded(document, tokenizer)
    novel = [i for i, new in enumerate(tokens.novel) if new]
    seen = []

    def p(ids: list[int]) -> torch.Tensor:
        seen.append(list(ids))
        rows = [P if i + 1 == novel[0] else Q for i in range(len(ids))]
        return torch.stack(rows)

    def q(ids: list[int]) -> torch.Tensor:
        return Q.expand(len(ids), 3)

    whole = judged(p, q, [document], tokenizer, most=100)
    assert seen == [tokens.ids]
    assert whole.agreed.tolist() == [0] + [1] * (len(novel) - 1)
    assert whole.overlap == pytest.approx([0.75] + [1.0] * (len(novel) - 1))
    assert whole.classes == [token_classes(document.text, tokenizer)[i] for i in novel]
    assert judged(p, q, [document], tokenizer, most=2).agreed.tolist() == [0, 1]


def test_windows_do_not_change_the_judgement(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch):
    document = Document("x.py", SOURCE, frozenset())
    reader = dict(p=lambda ids: Q.expand(len(ids), 3), q=lambda ids: Q.expand(len(ids), 3))
    whole = judged(**reader, documents=[document], tokenizer=tokenizer, most=1000)
    monkeypatch.setattr(classes, "WINDOW", 7)
    parts = judged(**reader, documents=[document], tokenizer=tokenizer, most=1000)
    assert parts.classes == whole.classes and np.array_equal(parts.overlap, whole.overlap)

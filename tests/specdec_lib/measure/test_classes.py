"""Token classes by Python's tokenizer, and how the positions of each class are judged."""

import pytest
import torch

from specdec_lib import assets
from specdec_lib.assets import Document
from specdec_lib.measure.classes import CLASSES, judged, spans, token_classes
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
    return [(source[start:end], kind) for start, end, kind in spans(source)]


def test_pieces_of_a_source():
    kinds = dict(pieces(SOURCE))
    expected = {
        '"""What it does."""': "comment",
        "def": "keyword",
        "f": "identifier",
        "*": "operator",
        "1.5": "literal",
        "'Also text.'": "comment",
        "# a comment": "comment",
        'f"{x!r} and {y}"': "literal",
        '"no docstring"': "literal",
        '"in brackets"': "literal",
        "None": "keyword",
    }
    assert {text: kinds[text] for text in expected} == expected
    assert set(kinds.values()) | {"whitespace"} == set(CLASSES)


def test_all_of_the_held_out_code_is_classified():
    sources = [each.text for each in assets.documents() if each.name.endswith(".py")]
    kinds = [set(token_classes(text, assets.tokenizer())[1:]) for text in sources]
    assert set.union(*kinds) == set(CLASSES)


P, Q = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([0.25, 0.5, 0.25])


def test_judged_positions_are_those_before_novel_tokens():
    tokenizer = assets.tokenizer()
    document = Document("x.py", "import os\ny = 2\n", frozenset({0}))
    novel = [i for i, new in enumerate(held_out.encoded(document, tokenizer).novel) if new]

    def p(ids: list[int]) -> torch.Tensor:
        return torch.stack([P if i + 1 == novel[0] else Q for i in range(len(ids))])

    def q(ids: list[int]) -> torch.Tensor:
        return Q.expand(len(ids), 3)

    whole = judged(p, q, [document], tokenizer, most=100)
    assert whole.agreed.tolist() == [0] + [1] * (len(novel) - 1)
    assert whole.overlap == pytest.approx([0.75] + [1.0] * (len(novel) - 1))
    assert whole.classes == [token_classes(document.text, tokenizer)[i] for i in novel]
    assert judged(p, q, [document], tokenizer, most=2).agreed.tolist() == [0, 1]

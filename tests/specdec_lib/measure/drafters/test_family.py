"""The comparison of all drafters: its members, its figures, and the page that shows it."""

import re
from pathlib import Path

import pytest
import torch
from decoders.exact_drafters import NO_DRAFTERS

from specdec_lib import drafters
from specdec_lib.assets import tokenizer
from specdec_lib.decoding.state import Block, Generation
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import target
from specdec_lib.measure.core.pages import table_in
from specdec_lib.measure.core.runs import SAMPLED, plain
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.drafters import family as command
from specdec_lib.measure.drafters.family import Comparison, judged_levels, measured, table
from specdec_lib.measure.drafters.members import Member, family, first_tokens
from specdec_lib.models.llama import Llama

PAGE = Path(__file__).parents[4] / "docs" / "drafters.md"
TOKENS = 6


@pytest.fixture(scope="module")
def model() -> Llama:
    """The built-in target."""
    return target(None, torch.float32)


@pytest.fixture(scope="module")
def everybody(model: Llama) -> dict[str, Member]:
    """All drafters, for a few tokens."""
    return family(model, TOKENS)


def test_the_page_has_a_row_for_every_member(everybody: dict[str, Member]):
    head, _, *rows = table_in(PAGE, command.table_name("234m")).splitlines()
    assert head == "| " + " | ".join(command.HEAD) + " |"
    assert sorted(row.split("|")[1].strip() for row in rows) == sorted(everybody)


def test_the_page_describes_every_drafter_and_members_come_from_all_their_files(
    everybody: dict[str, Member],
):
    files = {path.name for path in Path(drafters.__file__).parent.glob("*.py")} - NO_DRAFTERS
    assert (
        set(
            re.findall(r"^\| \[(\w+\.py)\]\(\.\./specdec_lib/drafters/\1\)", PAGE.read_text(), re.M)
        )
        == files
    )
    of_members = {Path(member.file).name for member in everybody.values()}
    assert of_members == files | {"block_verification.py"}


def test_every_member_runs_and_has_a_row(everybody: dict[str, Member], model: Llama, monkeypatch):
    monkeypatch.setattr(command, "TRIALS", 1)
    last = {name: each._replace(variants=each.variants[-1:]) for name, each in everybody.items()}
    rows = measured(last, plain(model, SAMPLED, TOKENS), prompts(2, length=16), rounds=1)
    assert [row.name for row in rows] == list(everybody)
    for row in rows:
        assert 0 <= row.alpha <= 1 <= row.tokens_a_block <= TOKENS and row.c > 0 < row.speed.median
        assert row.lines > 30
    assert next(row for row in rows if row.name == "large draft").alpha > 0


def test_a_disturbed_run_is_called_that(capsys):
    command.tell_disturbance([1.0, 1.0, 1.0, 1.0])
    assert capsys.readouterr().out == ""
    command.tell_disturbance([1.0, 1.0, 2.0, 2.0])
    told = capsys.readouterr().out
    assert "This run was disturbed (the two halves of the rounds differ by 100%" in told
    assert "run the command again" in told


def test_they_are_made_for_a_dearer_target_too(everybody: dict[str, Member]):
    dear = target("40m", torch.float32)
    members = family(dear, TOKENS)
    assert list(members) == list(everybody)
    for name in ("Medusa heads", "EAGLE head", "tree of the EAGLE head"):
        generation = members[name].variants[-1].decode(prompts(1)[0])
        assert len(generation.tokens[0]) == TOKENS


def test_the_first_tokens_of_a_vocabulary_cut_the_text_finer():
    whole = tokenizer()
    short, text = first_tokens(whole, 600), "def add(left, right):\n    return left + right\n"
    assert short.get_vocab_size() == 600
    ids = short.encode(text).ids
    assert short.decode(ids) == text and max(ids) < 600 and len(ids) > len(whole.encode(text).ids)
    assert all(short.id_to_token(number) == whole.id_to_token(number) for number in range(600))


def block(drafted: int, accepted: int, kept: int) -> Block:
    return Block([0] * drafted, [0] * accepted, 0, kept, False, [], [])


def test_the_levels_of_a_tree_are_judged_and_not_its_nodes():
    blocks = [block(6, 1, 2), block(0, 0, 1), block(6, 2, 3), block(2, 0, 1), block(0, 0, 1)]
    tree = Generation([[0] * 8], [blocks])
    # 8, 6, 5, 2 and 1 tokens were left: two levels, none drafted, two, one, none.
    assert judged_levels(tree, 2) == [(1, 2), (0, 0), (2, 2), (0, 1), (0, 0)]
    chain = Generation([[0] * 5], [[block(3, 3, 4), block(0, 0, 1)]])
    assert judged_levels(chain, 3) == [(3, 3), (0, 0)]


def test_the_table_has_the_fastest_first_and_goes_to_a_file(tmp_path: Path, monkeypatch, capsys):
    rows = [Comparison(name, "K = 2", 0.5, 1.5, 0.1, Spread(speed, 0.5, 2.0), 40) for name, speed in
            (("slow", 0.9), ("fast", 1.3))]  # fmt: skip
    lines = table(rows).splitlines()
    assert lines[2] == "| fast | K = 2 | 0.50 | 1.50 | 0.100 | 1.30 (0.50 to 2.00) | 40 |"
    assert lines[3].startswith("| slow |")
    monkeypatch.setattr(command, "measured", lambda *args: rows)
    monkeypatch.setattr(command, "family", lambda *args: {})
    command.main(["--markdown", str(tmp_path / "new" / "table.md")])
    assert table_in(tmp_path / "new" / "table.md", command.table_name(None)) == table(rows)
    assert table(rows) in capsys.readouterr().out
    monkeypatch.setattr(command, "target", lambda *args: None)
    monkeypatch.setattr(command, "plain", lambda *args: None)
    command.main(["--target-cost", "234m"])
    assert "The drafts: acceptance of a 4:1 or an 8:1" in capsys.readouterr().out

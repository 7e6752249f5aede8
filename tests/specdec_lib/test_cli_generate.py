"""`specdec generate`: the text as it is written, who wrote which token, and what it cost."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from specdec_lib import cli, cli_generate

EOS = 0


def page(terminal: bool = False) -> cli_generate.Page:
    """A page of a pair whose tokens are bytes."""
    codec = SimpleNamespace(decode=lambda ids: bytes(ids).decode(errors="replace"))
    colours = "standard" if terminal else None
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=colours)
    return cli_generate.Page(SimpleNamespace(tokenizer=codec, eos_id=EOS), console, "def ")


def screens(*blocks: bytes) -> list[str]:
    """What is on the screen after each block."""
    text = page()
    return [text.add(0, list(block)) or text.console.file.getvalue() for block in blocks]


def test_accepted_tokens_are_green_and_underlined_and_the_targets_own_are_plain():
    text = page(terminal=True)
    for block in (b"abc", b"d", b"e\n  f"):
        text.add(0, list(block))
    marked = "\033[4;32mab\033[0mc" + "d" + "\033[4;32me\033[0m\n  f"
    assert text.console.file.getvalue() == f"def {marked}"


def test_the_end_of_a_text_is_not_shown_whoever_wrote_it():
    assert screens(b"ab\0")[-1] == "def ab" and screens(b"a", b"\0")[-1] == "def a"


def test_a_character_is_written_when_all_of_its_bytes_are_there():
    whole = "nai\u0308ve 😀!".encode()
    assert screens(whole[:4], whole[4:-3], whole[-3:]) == [
        "def nai", "def nai\u0308ve ", "def nai\u0308ve 😀!"
    ]  # fmt: skip


def test_bytes_that_are_no_character_hold_nothing_up():
    assert screens(b"a\xff", b"b\xff\xff", b"c")[-1] == "def a\ufffdb\ufffd\ufffdc"


def written(capsys: pytest.CaptureFixture, *options: str) -> tuple[str, str]:
    """The text after a prompt, and the line of counts, where the output is no terminal."""
    assert cli.main(["generate", "def quicksort(", "--tokens", "20", *options]) == 0
    text, counts = capsys.readouterr().out.rsplit("\n\n", 1)
    assert text.startswith("def quicksort(") and "\x1b" not in text + counts
    return text, counts


def test_where_the_output_is_no_terminal_the_text_is_plain_and_counts_follow(capsys):
    _, counts = written(capsys)
    assert re.fullmatch(
        r"20 tokens \(\d+ drafted and accepted\), \d+ target passes, .* s\n", counts
    )


def test_the_same_seed_gives_the_same_text_and_another_one_another(capsys):
    one, same, other = (
        written(capsys, "--temperature", "1", "--seed", seed)[0] for seed in ("1", "1", "2")
    )
    assert one == same != other

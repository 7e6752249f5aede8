"""`specdec generate`: the text, who wrote which token, and what it cost."""

import io
import subprocess
import sys

import pytest

from specdec_lib import cli, cli_generate
from specdec_lib.decoding.state import Block, Generation
from specdec_lib.models.pairs import load_pair

BLOCKS = [
    Block([5, 6, 7], [5, 6], 8, 3, False, [0.5] * 3, [0.5] * 3),
    Block([1], [1], 2, 2, True, [0.5], [0.5]),
    Block([3], [3], 0, 1, False, [0.5], [0.5]),
    Block([], [], 9, 1, True, [], []),
]


def decode(ids: list[int]) -> str:
    return "".join(chr(ord("a") + i) for i in ids)


def test_every_kept_token_is_of_one_kind():
    kinds = [("accepted", [5, 6]), ("corrected", [8]), ("accepted", [1]), ("bonus", [2])]
    assert list(cli_generate.runs(BLOCKS)) == [*kinds, ("accepted", [3]), ("bonus", [9])]


def test_kinds_are_told_apart_by_shape_and_on_a_terminal_by_colour():
    assert cli_generate.marked(BLOCKS[:2], decode, colour=False) == "fg⟦i⟧b⟪c⟫"
    coloured = cli_generate.marked(BLOCKS[:2], decode, colour=True)
    assert coloured.startswith("\033[32mfg\033[0m\033[31;1m⟦i⟧\033[0m")


def test_a_marked_line_end_is_seen_and_ends_the_line():
    block = Block([1], [], 2, 1, False, [0.1], [0.9])
    assert cli_generate.marked([block], lambda ids: "\n", colour=False) == "⟦⏎\n⟧"


def test_the_summary_counts_tokens_forwards_and_the_accepted_share():
    made = Generation([[0] * 6], [BLOCKS[:2]], target_passes=2, seconds=0.5)
    text = cli_generate.summary(made)
    assert "6 tokens in 0.50 s, 12 a second" in text
    assert "2 forwards of the target, 3.00 tokens each; 75% of the 4 drafted were accepted" in text
    assert cli_generate.summary(Generation([[]], [[]])) == "no new tokens"


def run(*arguments: str) -> str:
    options = cli.parser().parse_args(["generate", *arguments])
    out = io.StringIO()
    cli_generate.run(options, out)
    return out.getvalue()


def test_the_built_in_pair_goes_on_with_a_prompt():
    text = run("def quicksort(", "--tokens", "24")
    assert text.startswith("def quicksort(")
    assert "24 tokens in" in text and "the built-in pair with its large draft" in text


def test_the_streamed_text_is_the_shown_text_without_its_marks():
    arguments = ("class Naïve", "--tokens", "40", "--temperature", "1", "--seed", "3")
    streamed = run(*arguments).split("\n\nthe built-in pair")[0]
    shown = run(*arguments, "--show").split(f"\n\n{cli_generate.LEGEND}")[0]
    for mark in ("⟦", "⟧", "⟪", "⟫", "⏎"):
        shown = shown.replace(mark, "")
    assert shown.rstrip("\n") == streamed.rstrip("\n")


def stream_of(*blocks: bytes) -> tuple[list[str], str]:
    """What is on the screen after each block of bytes, and in the end; a token is a byte."""
    out, screens = io.StringIO(), []
    show = cli_generate.Stream(lambda ids: bytes(ids).decode(errors="replace"), out)
    for block in blocks:
        show(0, list(block))
        screens.append(out.getvalue())
    show.finish()
    return screens, out.getvalue()


def test_a_character_is_printed_when_all_of_its_bytes_are_there():
    first, second = "nai\u0308ve 😀!".encode()[:-3], "nai\u0308ve 😀!".encode()[-3:]
    screens, end = stream_of(first[:4], first[4:], second)
    assert screens == ["nai", "nai\u0308ve ", "nai\u0308ve 😀!"] and end == screens[-1]


def test_a_last_block_that_ends_within_a_character_is_printed_all_the_same():
    screens, end = stream_of(b"ab", "cd😀".encode()[:-1])
    assert screens == ["ab", "abcd"] and end == "abcd\ufffd"


def test_bytes_that_are_no_character_hold_nothing_up():
    screens, end = stream_of(b"a\xff", b"b\xff\xff", b"c")
    assert screens == ["a", "a\ufffdb", "a\ufffdb\ufffd\ufffdc"] and end == screens[-1]


def test_the_command_prints_the_end_of_a_text_that_is_cut_within_a_character(monkeypatch):
    def made(target, drafter, prompts, k, settings, choices) -> Generation:
        ids = pair.tokenizer.encode("x 😀")[:-1]
        settings.on_tokens(0, ids)
        return Generation([ids], [[]], target_passes=1, seconds=1.0)

    pair = load_pair()
    monkeypatch.setattr(cli_generate, "speculative_generate", made)
    assert run("def ").startswith("def x \ufffd\n\nthe built-in pair")


def test_the_same_seed_gives_the_same_text_and_another_another():
    def text(seed: str) -> str:
        return run("import ", "--tokens", "20", "--temperature", "1", "--seed", seed).split("\n\n")[
            0
        ]

    assert text("1") == text("1") != text("2")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["x", "--draft", "huge"], "choose one of large, base, small"),
        (["x", "--pair", "nonsense"], "there is no pair 'nonsense'"),
        (["x", "--top-p", "0"], "top_p is 0.0; it must be above 0"),
        (["x", "--tokens", "5000"], "shorten the prompt or ask for fewer"),
        (["", "--tokens", "3"], "prompt 0 is empty"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(arguments: list[str], named: str, capsys):
    assert cli.main(["generate", *arguments]) == 2
    error = capsys.readouterr().err
    assert named in error and "Traceback" not in error


@pytest.mark.parametrize(
    "words",
    [
        ("generate", "x", "--k=0"),
        ("generate", "x", "--tokens=-1"),
        ("generate", "x", "--seed=-1"),
        ("generate", "x", "--top-k=0"),
        ("generate", "x", "--temperature=inf"),
        ("race", "--k=0"),
        ("race", "--temperature=nan"),
    ],
    ids=" ".join,
)
def test_an_option_out_of_range_is_refused_before_anything_is_loaded(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.parser().parse_args(words)
    assert f"argument {words[-1].split('=')[0]}: " in capsys.readouterr().err


def test_the_command_runs():
    command = [sys.executable, "-m", "specdec_lib.cli", "generate", "def f(", "--tokens", "8"]
    result = subprocess.run([*command, "--show"], capture_output=True, text=True)
    assert result.returncode == 0 and cli_generate.LEGEND in result.stdout
    assert "\033[" not in result.stdout  # no colours where it is not a terminal

"""`specdec generate`: the text as it is written, who wrote which token, and what it cost."""

import io
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers.convert_slow_tokenizer import bytes_to_unicode

from specdec_lib import cli, cli_generate
from specdec_lib.models import pairs
from specdec_lib.models.pair import Pair
from specdec_lib.models.tokenizer import FileTokenizer
from specdec_lib.text_stream import TextStream

# Tokens that are bytes, each at its own number: 0 is the end.
EOS, LETTERS = 0, bytes_to_unicode()
BYTES = Tokenizer(models.BPE({letter: byte for byte, letter in LETTERS.items()}, []))
BYTES.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
BYTES.decoder = decoders.ByteLevel()
# Words that begin with their space, as SentencePiece has them, and bytes for what is no word.
WORDS = {"</s>": EOS, "▁The": 1, "▁end": 2, "is": 3, "▁is": 4}
FALLBACK = {f"<0x{byte:02X}>": 5 + byte for byte in range(256)}
PIECES = Tokenizer(models.BPE(WORDS | FALLBACK, [], byte_fallback=True))
PIECES.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
LLAMA = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
PIECES.decoder = decoders.Sequence([*LLAMA, decoders.Strip(" ", 1, 0)])
T5 = Tokenizer(models.BPE(WORDS, []))
T5.decoder = decoders.Metaspace(prepend_scheme="always")


def fallen(text: bytes) -> list[int]:
    """The tokens of PIECES for single bytes."""
    return [5 + byte for byte in text]


def page(
    terminal: bool = False, tokenizer: Tokenizer = BYTES, prompt: str = "def ", source: bool = False
) -> cli_generate.ConsoleWriter:
    """A page of a pair that has no models; with `source` it is one of encoder-decoders."""
    target = SimpleNamespace(set_source=None) if source else SimpleNamespace()
    pair = Pair("", target, target, FileTokenizer(tokenizer), "", frozenset([EOS]))
    colours = "standard" if terminal else None
    console = Console(file=io.StringIO(), force_terminal=terminal, color_system=colours)
    return cli_generate.ConsoleWriter(pair, console, prompt, pair.tokenizer.encode(prompt))


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


@pytest.mark.parametrize(
    ("tokenizer", "tokens", "expected"),
    [
        (PIECES, [4, 1], " is The"),
        (PIECES, [*fallen("\né".encode()), 3], "\néis"),
        (PIECES, [*fallen(b"\n"), *fallen(b"\xf0"), 3, 4], "\n\ufffdis is"),
        (PIECES, [4, *fallen("😀".encode()[:2])], " is\ufffd\ufffd"),
        (BYTES, list("\té".encode())[:-1], "\t\ufffd"),
        (T5, [1, 4], " The is"),
    ],
)
def test_the_text_is_what_the_tokenizer_reads_after_the_prompt(tokenizer, tokens, expected: str):
    stream = TextStream(tokenizer, [4])
    assert "".join(map(stream.add, tokens)) + stream.flush() == expected


def test_a_text_of_its_own_stands_below_its_source_and_without_a_first_space():
    text = page(tokenizer=T5, prompt="The end", source=True)
    text.add(0, [1, 2, 4])
    assert text.console.file.getvalue() == "The end\nThe end is"


@pytest.mark.parametrize("terminal", [False, True])
def test_tabs_brackets_and_colons_stay(terminal: bool):
    text = page(terminal, prompt="\tx\t[bold]:smile:")
    text.add(0, list(b"\n\tif\ty"))
    shown = re.sub(r"\033\[[0-9;]*m", "", text.console.file.getvalue())
    assert shown == "\tx\t[bold]:smile:\n\tif\ty"
    assert not terminal or "\n\t\033[4;32mif" in text.console.file.getvalue()


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


def test_a_chat_model_gets_its_template_which_is_not_shown(capsys, monkeypatch):
    pair = pairs.load_pair()
    chat = FileTokenizer(pair.tokenizer.backend_tokenizer, "# {{ messages[0].content }}\n")
    plain, _ = written(capsys)
    monkeypatch.setattr(pairs, "load_pair", lambda *_, **__: replace(pair, tokenizer=chat))
    answer, _ = written(capsys)
    assert answer.startswith("def quicksort(\n\n") and "#" not in answer[:20] and answer != plain
    assert written(capsys, "--raw")[0] == plain

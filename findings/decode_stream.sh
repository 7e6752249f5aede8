#!/bin/sh
# tokenizers 0.23.3: two things that DecodeStream, which gives the text of tokens one by one, does
# otherwise than `Tokenizer.decode` of all of them.
#
# 1. With a byte-fallback decoder (the vocabularies of Llama 2 and Mistral), a byte that begins no
#    character turns the whole run of bytes around it into replacement signs, and a newline that the
#    stream gave already with it. The stream then raises "Invalid prefix encountered" at every step
#    that follows, and gives no further text. `decode` of the same ids works.
# 2. DecodeStream(ids=prompt) continues a prompt. If the prompt ends within a character, the first
#    piece is the whole prompt again. Stepping through the prompt gives the rest of the character.
#
# Seen on 2026-11-28: 1. pieces '\n', None, then the error twice; `decode` gives '\ufffd\ufffdab'.
# 2. pieces 'say \xe9', '!' where '\xe9', '!' was expected.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tokenizers==0.23.3
"$folder/venv/bin/python" - <<'P'
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.decoders import DecodeStream


def pieces(stream: DecodeStream, tokenizer: Tokenizer, ids: list[int]) -> list[str | None]:
    found = []
    for token in ids:
        try:
            found.append(stream.step(tokenizer, token))
        except Exception as error:  # tokenizers raises no narrower class
            found.append(str(error).split(" encountered")[0])
    return found


words = ["<unk>", "<0x0A>", "<0xF0>", "a", "b"]
vocabulary = {word: number for number, word in enumerate(words)}
tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
streamed = pieces(DecodeStream(), tokenizer, [1, 2, 3, 4])
print("1.", streamed, "and decode gives", repr(tokenizer.decode([1, 2, 3, 4])))
assert streamed == ["\n", None, "Invalid prefix", "Invalid prefix"], "the behaviour has changed"
assert tokenizer.decode([1, 2, 3, 4]) == "\ufffd\ufffdab"

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
ids = tokenizer.encode("say \u00e9!").ids
prompt, rest = ids[:5], ids[5:]
continued = pieces(DecodeStream(ids=prompt), tokenizer, rest)
stepped = pieces(DecodeStream(), tokenizer, ids)
print("2.", continued, "and from the beginning", stepped)
assert continued == ["say \u00e9", "!"], "the behaviour has changed"
assert stepped == ["s", "a", "y", " ", None, "\u00e9", "!"]
P
echo "tokenizers 0.23.3 behaves as described"

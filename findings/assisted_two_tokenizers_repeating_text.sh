#!/bin/sh
# transformers 5.23.0: greedy assisted generation with `tokenizer` and `assistant_tokenizer` (universal
# assisted generation, also the way in for a draft with the same words and wider, padded logits) finds
# out which of the draft's tokens are new by the longest run that the last tokens before and after
# have in common. If the text repeats itself within those tokens (10 by default), the run is found at
# another place, and most or all of a draft is thrown away before the target sees it. So even an exact
# draft gains nothing on repeating text, where any other drafter does best.
#
# Seen on 2026-11-29, target and draft that both count up to a period, 60 tokens, K = 5: 10 passes of
# the target for every period without tokenizers (and equal widths); with them, and a draft whose
# logits are padded, 60 at periods 1, 3, 5 and 8, 30 at 2 and 4, 10 at 10 and 16. The text is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 tokenizers==0.23.3 numpy
"$folder/venv/bin/python" - <<'P'
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

logging.set_verbosity_error()
WORDS = 24


def tokenizer():
    made = Tokenizer(models.WordLevel({f"word{i}": i for i in range(WORDS)}))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def counting(period, width=WORDS):
    """A model that writes 0, 1, ..., period - 1 and begins again; the logits beyond WORDS are padding."""
    config = LlamaConfig(vocab_size=width, hidden_size=WORDS, intermediate_size=4,
                         num_hidden_layers=1, num_attention_heads=2, bos_token_id=None, eos_token_id=None)
    model = LlamaForCausalLM(config).eval()
    for weight in model.parameters():
        weight.data.zero_()
    model.model.norm.weight.data.fill_(1.0)
    for token in range(WORDS):
        model.model.embed_tokens.weight.data[token, token] = 1.0
        model.lm_head.weight.data[(token + 1) % period, token] = 1.0
    model.generation_config.num_assistant_tokens = 5
    model.generation_config.assistant_confidence_threshold = 0.0
    return model


def passes(period, draft, **tokenizers):
    target, seen = counting(period), []
    target.register_forward_hook(lambda *_: seen.append(1))
    prompt = torch.arange(20)[None] % period
    ids = target.generate(prompt, assistant_model=draft, do_sample=False,
                          max_new_tokens=60, **tokenizers)
    assert ids[0].tolist() == [i % period for i in range(80)], "another text"
    return len(seen)


found = {}
for period in (1, 2, 3, 4, 5, 8, 10, 16):
    padded = counting(period, WORDS + 8)
    both = {"tokenizer": tokenizer(), "assistant_tokenizer": tokenizer()}
    found[period] = passes(period, counting(period)), passes(period, padded, **both)
    print(f"period {period}: passes without and with tokenizers {found[period]}")
assert {without for without, _ in found.values()} == {10}, "the behaviour has changed"
assert [found[period][1] for period in (1, 2, 3, 4, 5, 8, 10, 16)] == [60, 30, 60, 30, 60, 60, 10, 10]
P
echo "transformers 5.23.0 behaves as described"

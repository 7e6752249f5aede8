#!/bin/sh
# transformers 5.23.0 (torch 2.13.0, CPU): assisted generation with an encoder-decoder target and
# draft feeds the draft, from the second block on, the whole decoder text again, although its cache
# already holds that text up to the last tokens. A draft model of a decoder-only pair is fed the new
# tokens only. The greedy text stays the target's, so nothing shows it but the time: the draft's
# first pass of a block grows with the text, and it drafts from a cache in which the text stands
# twice, so more of its tokens are rejected. A decoder mask of one token cures it.
#
# Seen on 2026-11-28 with a random T5 pair, K = 4, nothing accepted, 30 tokens: the draft's first
# passes of the blocks read 1, 2, 3, 4, ... 29 tokens; with the mask 1, 2, 2, 2, ... 2.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0
"$folder/venv/bin/python" - <<'P'
import torch
import transformers
from transformers import T5Config, T5ForConditionalGeneration

transformers.logging.set_verbosity_error()


def t5(seed: int, layers: int) -> T5ForConditionalGeneration:
    torch.manual_seed(seed)
    config = T5Config(vocab_size=40, d_model=32, d_kv=8, d_ff=48, num_layers=layers, num_heads=4,
                      initializer_factor=3.0, decoder_start_token_id=0, pad_token_id=None,
                      eos_token_id=None)
    model = T5ForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = None
    return model


def run(**options) -> tuple[list[int], int, list[int]]:
    """The text, the target's passes, and the number of tokens of each of the draft's passes."""
    target, draft = t5(1, 3), t5(2, 1)
    lengths, passes = [], []
    target.register_forward_pre_hook(lambda *_: passes.append(1))
    draft.decoder.register_forward_pre_hook(
        lambda module, args, kwargs: lengths.append(kwargs["input_ids"].shape[1]), with_kwargs=True)
    draft.generation_config.num_assistant_tokens = 4
    draft.generation_config.num_assistant_tokens_schedule = "constant"
    draft.generation_config.assistant_confidence_threshold = 0.0
    ids = torch.tensor([[3, 3, 9]])
    text = target.generate(ids, attention_mask=torch.ones_like(ids), assistant_model=draft,
                           do_sample=False, max_new_tokens=30, **options)
    return text[0].tolist(), len(passes), lengths


ids = torch.tensor([[3, 3, 9]])
plain = t5(1, 3).generate(ids, attention_mask=torch.ones_like(ids), do_sample=False,
                          max_new_tokens=30)[0].tolist()
text, passes, lengths = run()
cured_text, cured_passes, cured = run(decoder_attention_mask=torch.ones(1, 1, dtype=torch.long))
print("plain text equal:", text == plain, cured_text == plain)
print("without a decoder mask:", passes, "passes of the target; tokens of the draft's passes", lengths)
print("with one:", cured_passes, "passes of the target; tokens of the draft's passes", cured)
assert text == plain and cured_text == plain
assert max(lengths) == 29 and max(cured) == 2, "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

#!/bin/sh
# transformers 5.23.0: `generate` takes a cache that holds the beginning of the prompt
# (`past_key_values`), and reads only the rest. Given a draft model as well, or
# `prompt_lookup_num_tokens`, its first pass reads the whole prompt behind the cache, so that the
# beginning stands in it twice. Nothing is raised or logged, and the greedy text is another one. Who
# keeps a long system prompt in a cache and adds a draft to be faster gets other answers.
#
# Seen on 2026-11-29 with a random Llama, a prompt of 10 tokens and a cache of its first 6: the first
# pass of plain decoding reads 4 tokens and its text is that without a cache; with an exact draft
# (K = 4) the first pass reads 14 tokens, with prompt lookup 10, and both texts differ from the first
# token on. Without the cache the text with the draft is the plain one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy
"$folder/venv/bin/python" - <<'P'
import torch
import transformers
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

transformers.logging.set_verbosity_error()
PROMPT = torch.arange(3, 13)[None]


def llama():
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, initializer_range=0.5, eos_token_id=None, bos_token_id=None,
    )
    model = LlamaForCausalLM(config).eval()
    model.generation_config.num_assistant_tokens = 4
    model.generation_config.assistant_confidence_threshold = 0.0
    return model


def text(filled, **how):
    """Twelve greedy tokens, and how many tokens the first pass of the target read."""
    target, read = llama(), []
    if filled:
        how["past_key_values"] = DynamicCache(config=target.config)
        target(input_ids=PROMPT[:, :6], past_key_values=how["past_key_values"])
    target.register_forward_pre_hook(
        lambda module, args, named: read.append(named["input_ids"].shape[1]), with_kwargs=True)
    written = target.generate(PROMPT, do_sample=False, max_new_tokens=12, **how)
    return written[0, 10:].tolist(), read[0]


plain, _ = text(filled=False)
found = {
    "plain, filled cache": text(filled=True),
    "draft, no cache given": text(filled=False, assistant_model=llama()),
    "draft, filled cache": text(filled=True, assistant_model=llama()),
    "prompt lookup, filled cache": text(filled=True, prompt_lookup_num_tokens=3),
}
for name, (written, first) in found.items():
    same = "the plain text" if written == plain else f"another text, {written[:4]}, not {plain[:4]}"
    print(f"{name}: the first pass reads {first} tokens; {same}")
right = [written == plain for written, _ in found.values()]
assert right == [True, True, False, False], "the behaviour has changed"
assert [first for _, first in found.values()] == [4, 14, 14, 10], "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

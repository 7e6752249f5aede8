#!/bin/sh
# transformers 5.23.0: `cache_implementation="dynamic"` names the cache that `generate` takes anyway,
# and with a draft model it ends in a ValueError: "Passing both `cache_implementation` (used to
# initialize certain caches) and `past_key_values` (a Cache object) is unsupported", though the user
# passes no cache. The draft is called with the target's settings and, from its second block on, with
# its own cache. A text that ends within the first block passes, so a short test doesn't show it.
# Plain generation and prompt lookup take the setting, and without it the draft's text is right.
#
# Seen on 2026-11-29, a random Llama that is its own draft, K = 4: 5 tokens are written, 12 raise.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy
"$folder/venv/bin/python" - <<'P'
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

logging.set_verbosity_error()


def outcome(tokens: int, **how) -> str:
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, initializer_range=0.5, bos_token_id=None, eos_token_id=None)).eval()
    if how.pop("draft", False):
        how["assistant_model"] = LlamaForCausalLM(model.config).eval()
        how["assistant_model"].load_state_dict(model.state_dict())
        how["assistant_model"].generation_config.num_assistant_tokens = 4
        how["assistant_model"].generation_config.assistant_confidence_threshold = 0.0
    try:
        model.generate(torch.arange(3, 13)[None], max_new_tokens=tokens, do_sample=False, **how)
    except ValueError as error:
        return f"ValueError: {error}"
    return "a text"


named = {"cache_implementation": "dynamic"}
found = {
    "a draft, 12 tokens, no setting": outcome(12, draft=True),
    "dynamic, plain, 12 tokens": outcome(12, **named),
    "dynamic, prompt lookup, 12 tokens": outcome(12, prompt_lookup_num_tokens=3, **named),
    "dynamic, a draft, 5 tokens": outcome(5, draft=True, **named),
    "dynamic, a draft, 12 tokens": outcome(12, draft=True, **named),
}
for name, what in found.items():
    print(f"{name}: {what}")
*others, last = found.values()
assert set(others) == {"a text"} and "Passing both" in last, "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

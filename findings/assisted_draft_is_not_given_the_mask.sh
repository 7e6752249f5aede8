#!/bin/sh
# transformers 5.23.0: assisted generation doesn't hand an attention mask of ones to the draft.
# `generate` drops a mask of ones, since that of no padding means the same to the target. The draft,
# which is called by `generate` again, then has no mask and infers one: wherever `pad_token_id` stands
# in the text the draft sees a hole. So the mask that the user gave to prevent this is respected by the
# target and not by the draft. The greedy text is right, and the draft guesses worse. It happens where
# the pad token is a token of the text and not the end token, such as `pad_token_id=0` for a model whose
# token 0 is a word. Nothing is logged.
#
# Seen on 2026-11-29, a random Llama that is its own draft, 12 tokens, K = 4, a mask of ones: 3 passes
# of the target if the pad token isn't in the prompt, 6 if it is; the same text.
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
prompt = torch.tensor([[3, 4, 5, 6, 7, 8, 9, 10, 11, 12]])
torch.manual_seed(1)
config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                     num_attention_heads=4, initializer_range=0.5, bos_token_id=None, eos_token_id=None)
target, draft = LlamaForCausalLM(config).eval(), LlamaForCausalLM(config).eval()
draft.load_state_dict(target.state_dict())
draft.generation_config.num_assistant_tokens = 4
draft.generation_config.assistant_confidence_threshold = 0.0
passes = []
target.register_forward_hook(lambda *_: passes.append(1))


def assisted(pad: int) -> tuple[list[int], int]:
    passes.clear()
    ids = target.generate(prompt, attention_mask=torch.ones_like(prompt), assistant_model=draft,
                          pad_token_id=pad, do_sample=False, max_new_tokens=12)
    return ids[0].tolist(), len(passes)


(text, elsewhere), (same, inside) = assisted(pad=63), assisted(pad=5)
assert 63 not in text and 5 in text
print(f"passes with a pad token that is not in the prompt: {elsewhere}; with one that is: {inside}")
print("the same text:", text == same)
assert text == same and elsewhere == 3 and inside > elsewhere, "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

#!/bin/sh
# transformers 5.23.0: greedy text with `guidance_scale` (classifier-free guidance), or with a SynthID
# watermark, is another text as soon as a draft model helps, though assisted generation promises the
# target's text. Both logits processors keep a state that assumes one call for each token of the
# text; assisted generation calls the same object for tokens that are rejected too, and gives it to
# the draft as well. So the draft's steps run the *target* on the unconditional text besides. Nothing
# is raised or logged. A processor without a state (a repetition penalty) gives the same text.
#
# Seen on 2026-11-29 with a random Llama that is its own draft (K = 4), 12 tokens: texts differ with
# guidance and with SynthID and agree with a repetition penalty; with guidance the target runs 24
# passes without a draft and 44 with it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy
"$folder/venv/bin/python" - <<'P'
import torch
from transformers import LlamaConfig, LlamaForCausalLM, SynthIDTextWatermarkingConfig
from transformers.utils import logging

logging.set_verbosity_error()


def model():
    torch.manual_seed(1)
    made = LlamaForCausalLM(LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, initializer_range=0.5, bos_token_id=None, eos_token_id=None))
    made.generation_config.update(num_assistant_tokens=4, assistant_confidence_threshold=0.0)
    return made.eval()


def run(settings, **draft):
    target, passes = model(), []
    target.register_forward_hook(lambda *_: passes.append(1))
    ids = target.generate(
        torch.arange(3, 13)[None], max_new_tokens=12, do_sample=False, **settings, **draft)
    return ids[0, 10:].tolist(), len(passes)


agrees, counts = {}, {}
synthid = SynthIDTextWatermarkingConfig(keys=[654, 400, 836, 123, 340], ngram_len=3)
for name, settings in {
    "repetition penalty": {"repetition_penalty": 1.3},
    "guidance": {"guidance_scale": 1.5},
    "SynthID": {"watermarking_config": synthid},
}.items():
    (plain, alone), (assisted, helped) = run(settings), run(settings, assistant_model=model())
    agrees[name], counts[name] = plain == assisted, (alone, helped)
    print(f"{name}: the same text: {agrees[name]}; passes of the target {alone} and {helped}")
    print("   without a draft", plain, "\n   with it        ", assisted)
assert agrees == {"repetition penalty": True, "guidance": False, "SynthID": False}, "it has changed"
assert counts["guidance"][1] > 1.5 * counts["guidance"][0], "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

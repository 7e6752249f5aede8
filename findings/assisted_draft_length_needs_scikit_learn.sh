#!/bin/sh
# transformers 5.23.0: whether scikit-learn can be imported changes how long assisted generation
# drafts. Its documentation says that `assistant_confidence_threshold`, below which a draft ends, is
# adjusted as the text is written and persists over calls with one draft. It is adjusted only if
# scikit-learn is there, which transformers doesn't install; without it the threshold stays 0.4, and
# nothing says so. It doesn't persist either: each call begins at 0.4. The text is the same; passes,
# and so every measured speed-up with default settings, depend on a package that no code of the user
# imports.
#
# Seen on 2026-11-29, scikit-learn 1.9.1, a random Llama whose draft is itself with noise, 100 tokens:
# 72 passes of the target and 151 of the draft without the package, 68 and 905 with it; a second call
# of the same pair takes 68 and 905 again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0 numpy
cat > "$folder/passes.py" <<'P'
import torch
from transformers import LlamaConfig, LlamaForCausalLM, logging

logging.set_verbosity_error()
torch.set_num_threads(1)


def llama(noise: float) -> LlamaForCausalLM:
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, initializer_range=0.5, eos_token_id=None, bos_token_id=None,
    ))
    torch.manual_seed(99)
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.data += noise * torch.randn_like(weight)
    return model.eval()


passes = {"target": 0, "draft": 0}


def count(name: str) -> None:
    passes[name] += 1


target, draft = llama(0.0), llama(0.05)
target.register_forward_hook(lambda *_: count("target"))
draft.register_forward_hook(lambda *_: count("draft"))
for _ in range(2):
    passes.update(target=0, draft=0)
    ids = target.generate(
        torch.arange(3, 13)[None], assistant_model=draft, do_sample=False, max_new_tokens=100)
    print(passes["target"], passes["draft"], sum(place * token for place, token in enumerate(ids[0].tolist())))
P
"$folder/venv/bin/python" "$folder/passes.py" > "$folder/without"
"$folder/venv/bin/pip" install --quiet scikit-learn==1.9.1
"$folder/venv/bin/python" "$folder/passes.py" > "$folder/with"
"$folder/venv/bin/python" - "$folder/without" "$folder/with" <<'P'
import sys

without, with_it = ([list(map(int, line.split())) for line in open(name)] for name in sys.argv[1:])
print("passes of target and draft, two calls, without scikit-learn:", [row[:2] for row in without])
print("with it:", [row[:2] for row in with_it])
assert {row[2] for row in without + with_it} == {without[0][2]}, "another text"
assert without[0] == without[1] and with_it[0] == with_it[1], "a call changes the next one"
assert with_it[0][1] > 2 * without[0][1], "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

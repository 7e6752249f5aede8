#!/bin/sh
# torch 2.13.0 on an x86 processor: a row of a product x @ W.T in float32 is another one, to the last
# bits, when other rows are multiplied with it; in bfloat16 and float16 it is the same to the bit. So
# the folk rule "use float32 if a block of tokens must give what one token gives" is the wrong way
# round here: a pass over several tokens repeats the logits of single passes in the *narrow* dtypes (as
# far as products go), and in float32 it doesn't. In float32 one row and several take different paths
# that add in different orders; the narrow dtypes take one path for both, or round the difference away.
# torch's notes on numerical accuracy say that a batch may change the last bits, of no dtype in
# particular.
#
# Seen on 2026-11-29, AMD EPYC with AVX2, one thread, four shapes: from 0.74 to 0.95 of the first row's
# numbers change in float32 and none in bfloat16 and float16. On an AMD EPYC with bfloat16 instructions
# up to 0.0004 changed in bfloat16 (2026-11-28).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $(uname -m) in x86_64 | amd64) ;; *) echo "this is about x86 processors"; exit 1 ;; esac
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy
"$folder/venv/bin/python" - <<'P'
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
SHAPES = [(512, 512), (576, 1536), (1024, 4096), (4096, 1024)]  # inner, outer
ROWS = (2, 3, 4, 5, 8)


def changed(inner: int, outer: int, dtype: torch.dtype) -> list[float]:
    """The share of the first row that is another one beside more rows, for each number of rows."""
    weight = (torch.randn(outer, inner) / inner**0.5).to(dtype)
    x = torch.randn(max(ROWS), inner).to(dtype)
    alone = x[:1] @ weight.T
    return [((x[:rows] @ weight.T)[:1] != alone).float().mean().item() for rows in ROWS]


found = {}
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    shares = [share for shape in SHAPES for share in changed(*shape, dtype)]
    found[dtype] = min(shares), max(shares)
    print(dtype, "least and largest share of the first row that changes: %.4f %.4f" % found[dtype])
assert found[torch.float32][0] > 0.5, "the behaviour has changed"
assert max(found[torch.bfloat16][1], found[torch.float16][1]) < 0.005, "the behaviour has changed"
P
echo "torch 2.13.0 behaves as described"

#!/bin/sh
# torch 2.13.0 on a CPU: `torch.ops.quantized.linear_prepack_fp16`, which packs a matrix (out, in) as
# float16 for FBGEMM, takes two bytes a weight only where `in` is a multiple of 512. It pads `in` to
# the next multiple: a model of width 576 (SmolLM2-135M) takes 1.78 times the bytes that its dtype
# says, one of width 256 twice. Nothing in the product shows it: the packed matrix reports the shape
# that was given.
#
# Seen on 2026-11-28, width 512: 2.0 bytes a weight, width 576: 3.6, width 1024: 2.0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy
cat > "$folder/packed.py" <<'P'
import sys

import torch


def resident() -> int:
    """The bytes of this process that are in memory (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


width, rows = int(sys.argv[1]), 8192
weight = torch.randn(rows, width).half().float()
torch.ops.quantized.linear_prepack_fp16(weight[:64], None)
before = resident()
packed = [torch.ops.quantized.linear_prepack_fp16(weight, None) for _ in range(8)]
size = (resident() - before) / (8 * weight.numel())
print(f"width {width}: {size:.1f} bytes a weight")
low, high = map(float, sys.argv[2:])
assert low < size < high, "the behaviour has changed"
P
# A process for each width: memory that was freed would be used again.
for row in "512 1.9 2.1" "576 3.4 3.7" "1024 1.9 2.1"; do
  "$folder/venv/bin/python" "$folder/packed.py" $row
done
echo "torch 2.13.0 behaves as described"

#!/bin/sh
# transformers 5.23.0: Phi3Config(rope_parameters=d) changes the dictionary d in place, and the
# limit in it is lost: `original_max_position_embeddings`, the length from which on "longrope" takes
# other rotary factors, becomes the configuration's default of 4096. The limit counts only if it is
# given beside the dictionary too. A second configuration made from the same d has 4096 as well, so
# a small test model never reaches its limit, and a text that changes there goes untested.
#
# Seen on 2026-11-28: 32 in the dictionary before the call, 4096 after it and in the configuration;
# 32 in both if the limit is also an argument.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet transformers==5.23.0
"$folder/venv/bin/python" - <<'P'
from transformers import Phi3Config
from transformers.utils import logging

logging.set_verbosity_error()
LIMIT = "original_max_position_embeddings"


def limits(**also: int) -> tuple[int, int]:
    """The limit in the caller's dictionary after the call, and in the configuration."""
    factors = [1.0, 1.0, 1.0, 1.0]
    given = {"rope_type": "longrope", "rope_theta": 10000.0, LIMIT: 32}
    given |= {"short_factor": factors, "long_factor": factors}
    config = Phi3Config(hidden_size=32, num_attention_heads=4, num_key_value_heads=2,
                        max_position_embeddings=256, rope_parameters=given, **also)
    return given[LIMIT], config.rope_parameters[LIMIT]


alone, beside = limits(), limits(**{LIMIT: 32})
print("32 in the dictionary alone:", alone, "and as an argument too:", beside)
assert alone == (4096, 4096) and beside == (32, 32), "the behaviour has changed"
P
echo "transformers 5.23.0 behaves as described"

"""Numbers of the hidden tests of chapter 00. The tests compute what they expect from them.

Every number is above 0 where nothing else is said. docs/instructor.md says how to change them.
"""

# Machines: bytes a second, FLOP a second. Any will do; these are three data sheets and a laptop.
A100 = (2.039e12, 312e12)
H100 = (3.35e12, 989.5e12)
TPU_V4 = (1.2e12, 275e12)
LAPTOP = (5e10, 4e11)
# Models: parameters, bytes of a parameter, bytes of a token in the KV cache.
LLAMA_7B = (7e9, 2, 524_288)
LLAMA_70B = (70e9, 2, 327_680)

# arithmetic_intensity: bytes of a parameter, with one token; then tokens (more than one) and
# bytes; then the same where the result is no whole number.
ONE_TOKEN_BYTES = [2, 4, 1, 0.5, 8]
LONGER_INTENSITY = [(2, 4), (5, 2), (7, 4), (64, 2), (1000, 4), (3, 0.5)]
FRACTIONS = [(1, 3), (5, 4), (1, 16)]

# forward_time: tokens, parameters, bytes of a parameter, machine.
SHORT_PASSES = [  # reading takes longer; with more than one token in some
    (1, 7e9, 2, H100),
    (5, 7e9, 2, H100),
    (150, 7e9, 2, A100),
    (1, 175e9, 2, A100),
    (1, 70e9, 0.5, TPU_V4),
    (2, 4e7, 4, LAPTOP),
    (3, 100, 1, (100, 1000)),
]
LONG_PASSES = [  # calculating takes longer
    (512, 7e9, 2, H100),
    (4096, 7e9, 2, A100),
    (2048, 70e9, 4, TPU_V4),
    (64, 4e7, 4, LAPTOP),
    (20, 100, 1, (100, 1000)),
    (1, 100, 1, (100, 50)),
    (7, 3, 0.5, (1000, 1)),
]
# A model and a machine (parameters, bytes of a parameter, machine) for which reading takes as long
# as calculating with a whole number of tokens, and numbers of tokens on both sides of it and on it.
RIDGE = (64, 2, (128, 512))
RIDGE_TOKENS = [1, 3, 4, 5, 6, 8]

# free_tokens: bytes of a parameter and machine; MACHINES are asked with bfloat16's 2 bytes, and in
# some of them half of the next token would fit.
BFLOAT16 = 2
MACHINES = [A100, H100, TPU_V4, (1.0, 3.75), (8, 15)]
FORMATS = [
    (4, A100),
    (1, A100),
    (0.5, A100),
    (4, LAPTOP),
    (1, (100, 1000)),
    (0.5, H100),
]
# A whole number of tokens takes exactly as long as reading, in powers of 2, which floats divide
# exactly; in the last case one FLOP a second is missing.
FREE_AT_THE_RIDGE = [
    (2, (1, 8)),
    (4, (128, 512)),
    (1, (4, 128)),
    (0.5, (1, 64)),
    (2, (2**40, 2**47)),
    (2, (64, 511)),
]
# Calculating one token takes longer than reading, or two tokens hardly less.
FREE_AT_LEAST_ONE = [
    (1, (100, 50)),
    (2, (1e12, 1e9)),
    (0.5, (4, 15)),
    (0.5, (4, 32)),
    (2, (3, 2)),
]

# kv_cache_bytes, in whole numbers: tokens, layers, key-value heads, numbers of a head, bytes of a
# number; a batch has its rows last. Tokens and rows may be 0.
CACHE_OF_ONE_TOKEN = [
    (1, 80, 8, 128, 2),
    (1, 32, 32, 128, 2),
    (1, 96, 96, 128, 2),
    (1, 1, 1, 1, 1),
    (1, 3, 1, 1, 1),
    (1, 1, 5, 1, 1),
    (1, 1, 1, 7, 1),
    (1, 1, 1, 1, 4),
]
CACHE_OF_A_TEXT = [
    (0, 4, 6, 64, 4),
    (3, 2, 1, 4, 2),
    (7, 2, 3, 4, 1),
    (4096, 80, 8, 128, 2),
    (131_072, 96, 96, 128, 2),
]
CACHE_OF_A_BATCH = [
    (3, 2, 1, 4, 2, 1),
    (3, 2, 1, 4, 2, 5),
    (1, 80, 8, 128, 2, 64),
    (2048, 32, 32, 128, 2, 16),
    (3, 2, 1, 4, 2, 0),
]

# pass_time: tokens of a row, rows, (context of a row,) model, machine.
NO_TEXT = [  # some passes read for longer, some calculate for longer
    (1, 1, LLAMA_7B, H100),
    (4, 32, LLAMA_7B, H100),
    (1, 100, LLAMA_70B, A100),
    (4, 128, LLAMA_7B, H100),
    (6, 64, LLAMA_70B, H100),
    (3, 20, (100, 1, 2), (100, 1000)),
]
READING = [  # reading takes longer
    (1, 1, 2000, LLAMA_7B, H100),
    (1, 64, 1000, LLAMA_7B, H100),
    (4, 128, 250, LLAMA_7B, H100),
    (5, 32, 4000, LLAMA_70B, A100),
    (2, 3, 50, (100, 0.5, 4), (50, 4000)),
    (7, 2, 600, (100, 4, 1), (100, 3000)),
]
CALCULATING = [  # calculating takes longer
    (64, 128, 100, LLAMA_7B, H100),
    (16, 256, 200, LLAMA_70B, A100),
    (512, 2, 1000, LLAMA_7B, A100),
    (9, 4, 10, (100, 2, 3), (100, 500)),
    (2, 10, 5, (10, 1, 1), (100, 20)),
]
# Rows, model and machine; then tokens and context: none, and some for which reading takes longer,
# as long as calculating, and less long. The context may be 0.
PASS_RIDGE = (2, (64, 2, 1), (128, 512))
PASS_RIDGE_CASES = [(1, 0), (1, 32), (2, 32), (3, 32), (4, 32), (6, 96)]

"""Today's uses of speculative decoding in numbers: docs/regimes.md is made of them.

`speeds` has what costs time, `laws` what changes the distribution. Both compute; nothing here is
measured or sampled.
"""

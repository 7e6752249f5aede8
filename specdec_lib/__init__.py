"""Speculative decoding: a decoder to read and to measure, and the lessons that are built on it.

In the order of imports: `theory` and `sampling` (the formulas; how a token is drawn), `exact`
(every branch walked), `assets` and `device`, `models`, `drafters`, `decoding` (the decoder),
`measure` (times, acceptance, figures), `training` (how the built-in models are made). `lessons`
holds the checks, figures and simulators of the chapters; `cli` the commands `specdec ...`.
"""

"""Decoding: plain, and speculative."""

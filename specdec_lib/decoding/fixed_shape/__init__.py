"""Decoding in steps of fixed shape, which a GPU can replay as one CUDA graph."""

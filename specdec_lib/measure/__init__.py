"""Measuring: acceptance on held-out text, times of passes, and decoders against each other."""

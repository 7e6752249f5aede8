"""Throughput against latency, by kind of text and size of batch: a small SPEED-Bench."""

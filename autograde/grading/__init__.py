"""One engine: a submission's notebook in, a result by exercise and behaviour out."""

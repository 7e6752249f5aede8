"""Language models with one small protocol."""

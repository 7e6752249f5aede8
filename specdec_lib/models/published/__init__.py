"""Published models: fetched or downloaded, and loaded by transformers."""

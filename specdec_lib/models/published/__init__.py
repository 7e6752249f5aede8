"""Published models: how they are fetched or downloaded, and how transformers loads the others."""

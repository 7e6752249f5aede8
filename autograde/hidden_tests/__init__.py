"""Each chapter's hidden tests, test_NN_topic.py, and its known bugs, test_NN_topic.toml."""

"""For each chapter its hidden tests and known bugs, test_NN_topic.py."""

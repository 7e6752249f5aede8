"""For each chapter its hidden tests and known bugs, chNN_tests.py."""

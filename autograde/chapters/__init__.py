"""For each chapter its hidden tests (chNN_tests.py) and its known wrong answers (chNN_wrong.py)."""

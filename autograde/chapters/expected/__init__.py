"""What the hidden tests expect, computed from any numbers; nothing here reads the solutions."""

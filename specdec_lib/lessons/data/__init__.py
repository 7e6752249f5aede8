"""What lessons read: recorded distributions, and small functions of distributions."""

"""`specdec doctor`: what this machine has and what it can run."""

"""What every measurement is made of: timing, runs, costs of passes, acceptance, held-out text."""

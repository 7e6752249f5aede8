"""Another verifier: block verification."""

"""Other verifiers: block verification, which is exact, and lossy rules, which are not."""

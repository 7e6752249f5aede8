"""Chapter 03: its checks, hints, figures and exact numbers."""

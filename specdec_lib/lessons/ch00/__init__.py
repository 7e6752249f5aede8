"""Chapter 00: its checks, hints, figures and exact numbers."""

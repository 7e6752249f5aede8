"""Chapter 06: its checks, hints, figures and exact numbers."""

"""Chapter 04: its checks, hints, figures and exact numbers."""

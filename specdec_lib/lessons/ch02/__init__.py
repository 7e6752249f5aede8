"""Chapter 02: its checks, hints, figures and exact numbers."""

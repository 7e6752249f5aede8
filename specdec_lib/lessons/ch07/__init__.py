"""Chapter 07: its checks, hints, figures and exact numbers."""

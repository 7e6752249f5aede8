"""Chapter 08: its checks, hints, figures and exact numbers."""

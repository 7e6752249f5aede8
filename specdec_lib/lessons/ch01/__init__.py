"""Chapter 01: its checks, hints, figures and exact numbers."""

"""Chapter 05: its checks, hints, figures and exact numbers."""

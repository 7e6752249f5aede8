"""Figures and tables: axes, bars, tokens in boxes, the race."""

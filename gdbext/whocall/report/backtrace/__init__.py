"""Backtraces as text."""

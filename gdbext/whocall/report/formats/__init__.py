"""Backtraces in the formats of other tools."""

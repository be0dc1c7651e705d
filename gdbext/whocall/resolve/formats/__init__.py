"""Readers of logs, one for each kind: each finds the places in a line, and leaves all else."""

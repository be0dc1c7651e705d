"""Logs of crashes, with names in place."""

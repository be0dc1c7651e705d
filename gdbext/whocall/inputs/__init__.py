"""Crashes of any kind, opened, with files out of a directory or an image."""

"""Numbers of things, in sentences."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """ "1 name", "2,000 names"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"

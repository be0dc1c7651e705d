"""Sentences on a screen: broken between words where they do not fit."""

from __future__ import annotations

import textwrap

from whocall.core.printable import printable


def broken(text: str, columns: int) -> list[str]:
    """Further lines stand two columns farther in; 0 columns: all fits."""
    text = printable(text)
    if not 0 < columns <= len(text):
        return [text]
    margin = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text,
        max(columns - 1, 1),
        subsequent_indent=margin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )

"""Sentences on a screen: broken between words where they do not fit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from whocall.base.printable import printable
from whocall.report.form.style import Style

FURTHER = 2  # spaces before what is broken off
Piece = tuple[str, str]  # a role of styles, "" for words of ours, and the text


def broken(text: str, columns: int) -> list[str]:
    """Further lines stand two columns farther in; 0 columns: all fits."""
    text = printable(text)
    if not 0 < columns <= len(text):
        return [text]
    margin = " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        text,
        max(columns - 1, 1),
        subsequent_indent=margin + " " * FURTHER,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [""]


def words_alone(pieces: Iterable[Piece]) -> str:
    """The sentence in one line, without paint."""
    return "".join(text for _, text in pieces)


def painted(pieces: Iterable[Piece], style: Style) -> str:
    """The sentence in one line."""
    return "".join(style.paint(role, text) if role else printable(text) for role, text in pieces)


def broken_pieces(pieces: Iterable[Piece], style: Style, columns: int) -> list[str]:
    """As `broken`, of a sentence with names in it: a text with a role stays whole, as people take
    it up by a double click and search for it.
    """
    said = list(pieces)
    whole = sum(len(printable(text)) for _, text in said)
    if not 0 < columns <= whole:
        return [painted(said, style)]
    margin = " " * (len(said[0][1]) - len(said[0][1].lstrip()))
    lines, width = [margin], len(margin)
    for word in _words(said):
        size = sum(len(printable(text)) for _, text in word)
        is_first = not lines[-1].strip()
        if not is_first and width + 1 + size >= columns:
            lines[-1] = lines[-1].rstrip()
            lines.append(margin + " " * FURTHER)
            width, is_first = len(lines[-1]), True
        if is_first and not size:
            continue  # of two spaces at the end of a line the second one
        lines[-1] += "" if is_first else " "
        lines[-1] += painted(word, style)
        width += size + (not is_first)
    return lines


def _words(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """What stands between spaces: a name, and what follows it at once."""
    words: list[list[Piece]] = [[]]
    for role, text in pieces:
        first, *others = [text] if role else text.split(" ")
        words[-1].append((role, first))
        words += [[("", other)] for other in others]
    return words

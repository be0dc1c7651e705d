"""The part of a picture that a window shows: scrolling, cutting, painting."""

from __future__ import annotations

import textwrap

from whocall.base.printable import printable
from whocall.report.form.style import Style
from whocall.report.stack.picture import Picture, Row


def painted(row: Row, left: int, width: int, style: Style) -> str:
    """The row from its column `left` on, at most `width` characters that are seen."""
    found = []
    for text, role in row:
        seen = text[left : left + width]
        left = max(left - len(text), 0)
        width -= len(seen)
        if seen:
            found.append(style.paint(role, seen) if role else seen)
    return "".join(found)


class View:
    """A window's place over a picture. Without a picture there is a sentence to read."""

    def __init__(self) -> None:
        self.picture: Picture | None = None
        self.sentence = ""
        self.top = 0  # the row that the window begins with
        self.left = 0  # the column

    def show(self, picture: Picture | None, sentence: str = "") -> None:
        """Another picture at the same place, or a sentence."""
        self.picture = picture
        self.sentence = sentence

    def scroll(self, rows: int, columns: int, height: int) -> None:
        """Moves the window down and to the right; negative numbers move it up and to the left."""
        self.top += rows
        self.left = max(self.left + columns, 0)
        self._stay_inside(height)

    def reveal(self, index: int, height: int) -> None:
        """Scrolls as little as shows the frame `index`, or at least where it begins."""
        if self.picture is None:
            return
        rows = self.picture.rows_of(index)
        self.top = min(max(self.top, rows.stop - height), rows.start)
        self._stay_inside(height)

    def _stay_inside(self, height: int) -> None:
        length = 0 if self.picture is None else len(self.picture)
        self.top = max(min(self.top, length - height), 0)

    def lines(self, width: int, height: int, style: Style) -> list[str]:
        """What a window of that size shows; no line is longer than `width`."""
        if self.picture is None:
            return textwrap.wrap(printable(self.sentence), max(width, 1))[:height]
        self._stay_inside(height)
        rows = range(self.top, min(self.top + height, len(self.picture)))
        return [painted(self.picture.row(at), self.left, width, style) for at in rows]

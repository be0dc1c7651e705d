"""A terminal obeys what it is shown, and names of files and functions may be written for that.

A symbol called `\\x1b[2J` would clear the screen. To a terminal go the styles that whocall itself
writes, and all other control characters as what they are; to a file or a pipe every name as it is.
"""

from __future__ import annotations

import re

from whocall.cli.passing import Passing
from whocall.resolve.escapes import shown

_OURS = re.compile(r"(\x1b\[[0-9;]*m|\r\x1b\[K|[\n\t])")  # styles, and what erases the bar


class Terminal(Passing):
    """A stream to a terminal."""

    def write(self, text: str) -> int:
        """Writes what is harmless of it, and tells the rest."""
        parts = _OURS.split(text)
        parts[::2] = [part if part.isprintable() else shown(part) for part in parts[::2]]
        return super().write("".join(parts))

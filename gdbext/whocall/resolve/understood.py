"""What of a log was understood: counted, so that nothing is left out silently."""

from __future__ import annotations

import re

# A line that is a frame to anyone's eye: a number of a stack and an address, or a file and a place
# in it, or an address in brackets at the end.
_FRAME = re.compile(
    r"(?:^|[\s|\]>:*])(?:#[0-9]{1,5}:?|[0-9]{1,5}[#:.]|\[[0-9]{1,5}\]|\[bt\]|@|at|by|pc)\s{1,16}"
    r"(?:0x)?[0-9a-f]{6,16}\b"
    r"|[\w)\]>]\+0x[0-9a-f]{1,16}\b"
    r"|\[<?0x[0-9a-f]{6,16}>?\]\s*$"
)


def looks_like_frame(text: str) -> bool:
    """Whether a line is of a stack by its looks."""
    return ("0x" in text or "#" in text) and _FRAME.search(text) is not None


class Count:
    """Of one log."""

    def __init__(self) -> None:
        self.places = 0  # found in all lines
        self.located = 0  # those of them of which the file is known by name
        self.named = 0  # those of which the function is known, by a file or by the log itself
        self.odd = 0  # lines that look like frames, and are none that is known
        self.first_odd = 0  # the number of the first of them

    def add_odd(self, number: int) -> None:
        """A line that nobody knows."""
        self.odd += 1
        self.first_odd = self.first_odd or number

    def sentence(self) -> str:
        """What is left, in a sentence; "" where nothing is."""
        parts = []
        unnamed = self.places - self.named
        if unnamed:
            of = f"of {self.places:,} addresses {unnamed:,} " if self.places > 1 else "one address "
            parts.append(f"{of}{'has' if unnamed == 1 else 'have'} no name")
        if self.odd:
            lines = "line looks" if self.odd == 1 else "lines look"
            are = "is" if self.odd == 1 else "are"
            first = (
                f"line {self.first_odd}" if self.odd == 1 else f"the first is line {self.first_odd}"
            )
            parts.append(f"{self.odd:,} {lines} like a frame and {are} not understood ({first})")
        return "; ".join(parts)

"""Control characters as text: a log may have been written to be obeyed by a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def shown(text: str) -> str:
    """The text with control characters, but tabs, as what they are: `\\x1b[31m`."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)

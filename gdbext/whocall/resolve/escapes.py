"""Control characters as text: a log may have been written to be obeyed by a terminal."""

from __future__ import annotations

import re

# What terminals obey: control characters, those of 8 bits too where the log is no UTF-8 (they are
# read as surrogates then), and the marks that turn the direction of text, which hide what is there.
_CONTROL = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\udc80-\udc9f]"
)
_SURROGATE = 0xDC00


def shown(text: str) -> str:
    """The text with control characters, but tabs, as what they are: `\\x1b[31m`, `\\u202e`."""
    return _CONTROL.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    if code >= _SURROGATE:
        code -= _SURROGATE
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

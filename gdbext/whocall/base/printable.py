"""Text that others wrote, as it may be shown: `native/base/printable_text.h`, where there is no
native module, and for what Python writes.

Names of symbols, files and threads, messages and command lines may hold anything; a terminal, a
pager, a reader of lines obeys some of that. What cannot be seen as what it is, is told in the
notation of Python's literals: `\n`, `\x1b`, `\u202e`, `\U000e0041`, and `\xff` for a byte that is
no UTF-8. A backslash stays as it is, so that what is printable already does not change.
"""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

# As in the native file, where the groups are named; and surrogates, by which Python holds bytes.
_RANGES = sorted([
    (0x0000, 0x001F), (0x007F, 0x009F), (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C),
    (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E),
    (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xFFFE, 0xFFFF), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    *((plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(1, 17)),
])  # fmt: skip
_FIRSTS = [first for first, _ in _RANGES]
_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_BYTES = range(0xDC80, 0xDD00)  # what "surrogateescape" makes of bytes

_LARGEST = 4096
"""Characters that are remembered: hostile texts hold a million different ones."""


class _Told(dict[int, "int | str"]):
    """What each character is told as, for str.translate: itself, where it can be seen."""

    def __init__(self, escape: Callable[[int], str]) -> None:
        super().__init__()
        self._escape = escape

    def __missing__(self, code: int) -> int | str:
        below = bisect_right(_FIRSTS, code) - 1
        told = self._escape(code) if below >= 0 and code <= _RANGES[below][1] else code
        if len(self) < _LARGEST:
            self[code] = told
        return told


def _as_literal(code: int) -> str:
    if code in _SHORT:
        return _SHORT[code]
    if code < 0x80 or code in _BYTES:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_json(code: int) -> str:
    if code == 0x0A:
        return "\n"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_literals, _json = _Told(_as_literal), _Told(_as_json)


def printable(text: str) -> str:
    """The text with what cannot be seen told. It is what every name goes through that is shown."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_literals)


def printable_line(line: str, own: Collection[str] = (), kept: str = "") -> str:
    """A line of output: nothing in it is obeyed but the sequences `own`, which whocall writes
    itself. Characters in `kept` stay, such as the tabs of a log.
    """
    if line.isascii() and line.isprintable():
        return line
    stays = [*own, *kept]
    if not any(each in line for each in stays):
        return printable(line)
    import re

    parts = re.split(f"({'|'.join(map(re.escape, stays))})", line)
    parts[::2] = map(printable, parts[::2])
    return "".join(parts)


def safe_json(text: str) -> str:
    """JSON text as Python's encoder writes it, or a piece of it, with what is not printable escaped
    as JSON does it: strings keep their characters, and the text is UTF-8 whatever they hold.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return text.translate(_json)

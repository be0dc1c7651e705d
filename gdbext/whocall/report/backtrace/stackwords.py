"""What `bt -full` shows under a frame: its CFA, the registers known there, its stack words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from whocall.core.model import Frame
from whocall.report.form.style import Style

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Literal

MOST_WORDS = 32  # of one frame; a buffer on the stack may be megabytes
INDENT = "        "

Reader = Callable[[int, int], bytes]


def _registers(registers: Mapping[str, int], digits: int) -> Iterator[str]:
    cells = [f"{name:<6} {value:#0{digits + 2}x}" for name, value in registers.items()]
    across = 3 if digits > 8 else 5
    for start in range(0, len(cells), across):
        yield INDENT + "  ".join(cells[start : start + across])


def _words(begin: int, data: bytes, word: int, byte_order: str, style: Style) -> Iterator[str]:
    across = 2 if word == 8 else 4
    order: Literal["little", "big"] = "big" if byte_order == "big" else "little"
    whole = len(data) // word * word
    for row in range(0, whole, word * across):
        cells = [
            f"{int.from_bytes(data[at : at + word], order):#0{word * 2 + 2}x}"
            for at in range(row, min(row + word * across, whole), word)
        ]
        yield f"{INDENT}{style.paint('address', f'{begin + row:#x}')}: {' '.join(cells)}"


def stack_lines(
    frame: Frame,
    sp: int,
    word_size: int,
    byte_order: str,
    read: Reader | None,
    style: Style,
) -> Iterator[str]:
    """The lines under `frame`, whose stack reaches from `sp` to its CFA (addresses)."""
    if frame.cfa is None:
        yield f"{INDENT}sp {sp:#x}, CFA unknown"
    else:
        yield f"{INDENT}sp {sp:#x}, CFA {frame.cfa:#x}"
    if frame.registers:
        yield from _registers(frame.registers, word_size * 2)
    if frame.cfa is None or read is None:
        return
    if frame.cfa < sp:
        yield f"{INDENT}(the CFA lies below sp: another stack begins here)"
        return
    count = (frame.cfa - sp) // word_size
    shown = min(count, MOST_WORDS)
    data = read(sp, shown * word_size)
    yield from _words(sp, data, word_size, byte_order, style)
    unread = shown - len(data) // word_size
    if unread:
        yield f"{INDENT}({unread} words cannot be read)"
    if count > shown:
        yield f"{INDENT}({count - shown} more words up to the CFA left out)"

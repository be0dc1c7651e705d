"""What a core's notes tell of the signal: its code, and the address that was accessed.

Source: `siginfo_t` of Linux, note NT_SIGINFO of cores since Linux 3.7.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

NT_SIGINFO = 0x53494749
PT_NOTE = 4
SI_KERNEL = 0x80
_GREATEST = 1 << 26  # bytes of notes; more is damage


class Fault(NamedTuple):
    """`address` is None where the signal has none; `code` is si_code."""

    signal: int
    code: int
    address: int | None


WITH_ADDRESS = frozenset({"SIGILL", "SIGTRAP", "SIGBUS", "SIGFPE", "SIGSEGV"})


def fault_of(path: str, signal: str | None) -> Fault | None:
    """The fault of the thread that crashed, `signal`'s name decides what it holds.

    None where the file has no such note: it is damaged, old, or no ELF core.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(64)
            if len(head) < 52 or head[:4] != b"\x7fELF":
                return None
            wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
            for offset, size in _note_segments(file, head, wide, order):
                file.seek(offset)
                body = _siginfo(file.read(min(size, _GREATEST)), order)
                if body is not None:
                    return _parsed(body, wide, order, signal in WITH_ADDRESS)
    except (OSError, struct.error, ValueError):
        return None
    return None


def _note_segments(
    file: BinaryIO, head: bytes, wide: bool, order: str
) -> Iterator[tuple[int, int]]:
    """Offset and size in bytes of each segment of notes."""
    word, table, counts, offset, length = ("Q", 32, 54, 8, 32) if wide else ("I", 28, 42, 4, 16)
    (start,) = struct.unpack_from(order + word, head, table)
    size, count = struct.unpack_from(order + "HH", head, counts)
    file.seek(start)
    headers = file.read(size * count)
    for at in range(0, len(headers) - size + 1, max(size, 1)):
        if struct.unpack_from(order + "I", headers, at)[0] == PT_NOTE:
            yield (
                struct.unpack_from(order + word, headers, at + offset)[0],
                struct.unpack_from(order + word, headers, at + length)[0],
            )


def _siginfo(notes: bytes, order: str) -> bytes | None:
    """The first note of the kind; the thread that crashed comes first."""
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from(order + "III", notes, at)
        body = at + 12 + (name + 3 & ~3)
        if kind == NT_SIGINFO:
            return notes[body : body + size]
        at = body + (size + 3 & ~3)
    return None


def _parsed(body: bytes, wide: bool, order: str, with_address: bool) -> Fault:
    signal, _, code = struct.unpack_from(order + "iii", body)
    if not with_address or code <= 0:  # sent by a process: no address there
        return Fault(signal, code, None)
    form, at = ("Q", 16) if wide else ("I", 12)
    return Fault(signal, code, struct.unpack_from(order + form, body, at)[0])

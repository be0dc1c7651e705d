"""Records of crashes, put together from the description of their layout."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

PROGRAM, MODULE, THREAD, STACK = 1, 2, 3, 4
MACHINES = {"<": 62, ">": 8}  # x86-64, and MIPS of 64 bits
REGISTERS = 17


def section(kind: int, body: bytes, order: str = "<") -> bytes:
    """With its header, filled up to a multiple of 8 bytes."""
    return struct.pack(order + "II", kind, len(body)) + body + bytes(-len(body) % 8)


def module(begin: int, end: int, bias: int, build_id: str, path: str, order: str = "<") -> bytes:
    """One loaded file."""
    ident, name = bytes.fromhex(build_id), path.encode()
    head = struct.pack(order + "QQQHHI", begin, end, bias, len(ident), len(name), 0)
    return section(MODULE, head + ident + name, order)


def thread(
    lwp: int,
    frames: Sequence[tuple[int, int, int, int]],
    order: str = "<",
    name: bytes = b"prog",
    flags: int = 1,
    gap: int = 0,
    outermost: int = 0,
) -> bytes:
    """frames: (address, module, trust, flags)."""
    head = struct.pack(
        order + "II16sIIIIII",
        *(lwp, flags, name, REGISTERS, len(frames), len(frames) + gap, outermost, 1, 0),
    )
    registers = struct.pack(f"{order}{REGISTERS}Q", *range(REGISTERS))
    rows = b"".join(struct.pack(order + "QHBBI", *frame, 0) for frame in frames)
    return section(THREAD, head + registers + rows, order)


def record(
    *sections: bytes, order: str = "<", version: int = 1, sequence: int = 1, flags: int = 0
) -> bytes:
    """A whole one, with its checksum."""
    body = b"".join(sections)

    def header(checksum: int) -> bytes:
        return struct.pack(
            order + "8sBBHHHIIQQIIIiQ",
            *(b"WHOCRASH", 1 if order == "<" else 2, 8, version, MACHINES[order], flags),
            *(64 + len(body), checksum, sequence, 1_700_000_000_000_000_000),
            *(98, 98, 11, 1, 0),
        )

    return header(zlib.crc32(header(0) + body)) + body

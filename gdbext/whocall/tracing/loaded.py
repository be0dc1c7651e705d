"""By how much a file that was mapped is moved from the addresses that are written in it."""

from __future__ import annotations

import struct
from pathlib import Path

_LOAD = 1
_PAGE = 4096


def load_bias(path: str, begin: int) -> int | None:
    """Runtime address - link address of the ELF file whose first byte was mapped at `begin`; None
    when it is not there or no ELF file.
    """
    try:
        with Path(path).open("rb") as file:
            return _bias_of(file.read(1 << 16), begin)
    except (OSError, struct.error, IndexError):
        return None


def _bias_of(head: bytes, begin: int) -> int | None:
    if head[:4] != b"\x7fELF" or head[4] not in (1, 2):
        return None
    order = ">" if head[5] == 2 else "<"
    wide = head[4] == 2
    table = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    for at in range(table, table + size * count, size or 1):
        kind = struct.unpack_from(order + "I", head, at)[0]
        if wide:
            offset, address = struct.unpack_from(order + "QQ", head, at + 8)
        else:
            offset, address = struct.unpack_from(order + "II", head, at + 4)
        if kind == _LOAD:
            first = address - address % _PAGE - (offset - offset % _PAGE)
            return int(begin - first)
    return None

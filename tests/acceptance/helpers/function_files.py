"""ELF files of very many functions, with nothing else in them."""

from __future__ import annotations

import random
import struct
from pathlib import Path

ORDERS = ("random", "sorted", "reversed", "sawtooth", "equal")
TOOTH = 1000
"""Functions in a run of ascending addresses, of a sawtooth."""
SIZE = 16
"""Bytes of each function."""
BASE = 0x400000
"""Link address of the first function."""


def _places(count: int, order: str) -> list[int]:
    """The number of each symbol's function, in the order of the table."""
    places = list(range(count))
    if order == "random":
        random.Random(1).shuffle(places)
    elif order == "reversed":
        places.reverse()
    elif order == "sawtooth":  # every run spans the whole file
        teeth = max(1, count // TOOTH)
        places = [at for first in range(teeth) for at in range(first, count, teeth)]
    elif order == "equal":
        places = [0] * count
    return places


def write(path: Path, count: int, order: str = "random") -> None:
    """Functions of `SIZE` bytes with a size; in disorder, as linkers write them, or as told."""
    shstrtab = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    names = b"\0" + b"".join(b"function_number_%07d\0" % at for at in range(count))
    name_size = len(b"function_number_%07d\0" % 0)
    entry = struct.Struct("<IBBHQQ").pack
    places = _places(count, order)
    named = range(count) if order == "equal" else places
    symbols = bytes(24) + b"".join(
        entry(1 + name_size * name, 0x12, 0, 1, BASE + SIZE * at, SIZE)
        for name, at in zip(named, places)
    )
    at_symbols = 64
    at_names = at_symbols + len(symbols)
    at_headers = at_names + len(names)
    header = struct.Struct("<IIQQQQIIQQ").pack
    sections = [
        bytes(64),
        header(1, 8, 6, BASE, 64, SIZE * count, 0, 0, 16, 0),  # the code is left out: NOBITS
        header(7, 2, 0, 0, at_symbols, len(symbols), 3, 1, 8, 24),
        header(15, 3, 0, 0, at_names, len(names), 0, 0, 1, 0),
        header(23, 3, 0, 0, at_headers + 5 * 64, len(shstrtab), 0, 0, 1, 0),
    ]
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, BASE, 0, at_headers, 0, 64, 56, 0, 64, 5, 4)
    path.write_bytes(ident + head + symbols + names + b"".join(sections) + shstrtab)

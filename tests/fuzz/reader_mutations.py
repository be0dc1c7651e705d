"""Mutations of the readers' inputs; sums that a reader looks at first are made right."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable

Mutation = Callable[[random.Random, bytearray], None]
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_WORDS = (
    *(b"\0", b"\n", b"\r", b"\x1b[K", b"\xff\xfe", b"../", b"/", b"-ex", b"%s", b'"', b"\\u0000"),
    *(b"99999999999999999999", b"-1", b"1e999", b"null", b"[]", b"{}", b"[[[[", b"0x", b"NaN"),
)


def _bytes(chance: random.Random, data: bytearray) -> None:
    for _ in range(chance.randrange(1, 8)):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)


def _number(chance: random.Random, data: bytearray) -> None:
    width = chance.choice((1, 2, 4, 8))
    if len(data) >= width:
        at = chance.randrange(len(data) - width + 1)
        at -= at % width if chance.random() < 0.7 else 0
        value = chance.choice((*_NUMBERS, len(data), chance.randrange(len(data) + 1)))
        order = "little" if chance.random() < 0.8 else "big"
        data[at : at + width] = (value & (1 << 8 * width) - 1).to_bytes(width, order)


def _word(chance: random.Random, data: bytearray) -> None:
    at = chance.randrange(len(data) + 1)
    data[at : at + chance.choice((0, 0, 1, 4))] = chance.choice(_WORDS)


def _cut(chance: random.Random, data: bytearray) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _repeat(chance: random.Random, data: bytearray) -> None:
    begin = chance.randrange(len(data) + 1)
    piece = data[begin : begin + chance.randrange(1, 200)]
    at = chance.randrange(len(data) + 1)
    data[at:at] = bytes(piece) * chance.choice((1, 1, 2, 30))


_ANY: tuple[Mutation, ...] = (_bytes, _bytes, _number, _number, _number, _word, _cut, _repeat)


def tar_sums(data: bytearray) -> None:
    """Every block that looks like a header gets the sum of its bytes."""
    for at in range(0, len(data) - 511, 512):
        block = data[at : at + 512]
        if block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            data[at + 148 : at + 156] = b"%06o\0 " % sum(block)


def record_sums(data: bytearray) -> None:
    """Every record gets its check sum."""
    at = data.find(b"WHOCRASH")
    while 0 <= at <= len(data) - 24:
        size = struct.unpack_from("<I", data, at + 16)[0]
        if 24 <= size <= len(data) - at:
            data[at + 20 : at + 24] = bytes(4)
            struct.pack_into("<I", data, at + 20, zlib.crc32(data[at : at + size]))
        at = data.find(b"WHOCRASH", at + 8)


_RIGHT: dict[str, Callable[[bytearray], None]] = {
    "tar": tar_sums,
    "image": tar_sums,
    "record": record_sums,
    "log": record_sums,
}


def mutated(name: str, data: bytes, seed: int, most: int) -> bytes:
    """Another input of a target; the same for the same seed."""
    chance = random.Random(seed)
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        chance.choice(_ANY)(chance, made)
    right = _RIGHT.get(name)
    if right is not None and chance.random() < 0.9:
        right(made)
    return bytes(made[:most])

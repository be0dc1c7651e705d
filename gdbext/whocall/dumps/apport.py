"""Crash reports of apport (`/var/crash/*.crash`), in the format of Debian's control files.

A field is `Key: value`, or `Key:` with lines behind it that begin with a blank. Of a binary field
the value is the word `base64`; each line behind it is a piece of one stream of gzip or zstd,
encoded by itself.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator

from whocall.core.errors import Error
from whocall.dumps.streams import DamagedStreamError

_LONGEST = 1 << 16  # bytes of a field that is kept
_MOST_FIELDS = 256  # that are kept
_PIECE = 1 << 20  # of a line
_CORE = "CoreDump"


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Lines without their ends; those that are very long come in several, in bounded memory.

    The second and later pieces of a long line begin with a blank, as lines that go on do, and each
    but the last has a multiple of 4 characters behind it.
    """
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        while len(rest) > _PIECE + 1:
            yield rest[: _PIECE + 1]
            rest = b" " + rest[_PIECE + 1 :]
    if rest:
        yield rest


def _decoded(line: bytes) -> bytes:
    try:
        return binascii.a2b_base64(line)
    except binascii.Error:
        raise DamagedStreamError("a line of the core is not base64") from None


def _core(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        if line[:1] not in (b" ", b"\t"):
            return  # the next field: what follows a core is of no use any more
        yield _decoded(line[1:])


def core_of_report(pieces: Iterator[bytes], fields: dict[str, str], name: str) -> Iterator[bytes]:
    """The packed core, piece by piece; the fields before it go to `fields`. Raises Error."""
    lines = _lines(pieces)
    key = ""
    for line in lines:
        text = line.decode("utf-8", "surrogateescape")
        if text[:1] in (" ", "\t"):
            if key in fields and len(fields[key]) < _LONGEST:
                fields[key] = f"{fields[key]}\n{text[1:]}".lstrip("\n")
            continue
        key, _, value = text.partition(":")
        value = value.strip()
        if key == _CORE and value == "base64":
            return _core(lines)
        if value != "base64" and len(fields) < _MOST_FIELDS:
            fields[key] = value[:_LONGEST]
    what = fields.get("ProblemType", "")
    raise Error(
        f"{name} holds no core dump: it is a report of type {what or 'unknown'}; only"
        " reports of crashed programs have one",
        path=name,
    )

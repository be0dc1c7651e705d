"""A log as lines, whatever it holds, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

LONGEST = 1 << 16  # bytes; what is longer is no line of a crash
_CHUNK = 1 << 16  # bytes


def read_chunks(
    stream: BinaryIO, is_quiet: Callable[[], bool] | None = None
) -> Iterator[list[tuple[str, str, bool]]]:
    """What can be read at a time, as (line, its end, whether it is a whole line); nothing where
    `is_quiet`, which is asked before each time but the first, says that nothing comes at present.

    Text is UTF-8; other bytes stay what they are ("surrogateescape").
    """
    read = getattr(stream, "read1", stream.read)
    kept = b""
    inside = False  # in a line that is too long
    first = True
    while True:
        if is_quiet is not None and not first and is_quiet():
            yield []
        first = False
        data = read(_CHUNK)
        if not data:
            break
        pieces = (kept + data).split(b"\n")
        kept = pieces.pop()
        lines = []
        for piece in pieces:
            lines.append(_line(piece, "\n", not inside and len(piece) <= LONGEST))
            inside = False
        if len(kept) > LONGEST:
            lines.append(_line(kept, "", False))
            kept, inside = b"", True
        yield lines
    if kept:
        yield [_line(kept, "", not inside)]


def _line(piece: bytes, end: str, whole: bool) -> tuple[str, str, bool]:
    text = piece.decode("utf-8", "surrogateescape")
    if text.endswith("\r"):
        return text[:-1], "\r" + end, whole
    return text, end, whole

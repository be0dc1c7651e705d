"""Unpacks zstd, xz, gzip, lz4 and bzip2 piece by piece, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import Any, BinaryIO

from whocall.dumps.kinds import kind_of

Read = Callable[[int], bytes]

TAKEN = 1 << 18  # bytes read at once
MADE = 1 << 20  # bytes made at once
_XZ_MEMORY = 1 << 28  # bytes: `xz -9` needs a quarter of it
_MOST_EMPTY = 1 << 12  # frames without contents, one after the other
PACKINGS = ("zstd", "lz4", "xz", "gzip", "bzip2")


def share_of(file: BinaryIO) -> float | None:
    """How much of a file was read, 0 to 1; None where it has no size, as a pipe."""
    try:
        size = os.fstat(file.fileno()).st_size
        return min(file.tell() / size, 1.0) if size else None
    except (OSError, ValueError):
        return None


class DamagedStreamError(Exception):
    """The rest of a stream cannot be unpacked; what came before it is good."""


class _Gzip:
    """zlib's decompressor with the interface of bz2's."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)


def _decoder(kind: str) -> Any:
    if kind == "gzip":
        return _Gzip()
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor()
    if kind == "xz":
        import lzma

        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    from whocall.dumps import frames

    return frames.ZstdDecoder() if kind == "zstd" else frames.Lz4Decoder()


def _faults() -> tuple[type[BaseException], ...]:
    import lzma
    import zlib

    return (OSError, ValueError, EOFError, lzma.LZMAError, zlib.error)


def _one(kind: str, read: Read, data: bytes) -> Generator[bytes, None, tuple[bytes, bool]]:
    """Unpacks up to the end of one frame, and hands back what follows it, and whether the frame had
    any contents.
    """
    decoder = _decoder(kind)
    filled = False
    while not decoder.eof:
        if decoder.needs_input and not data:
            data = read(TAKEN)
            if not data:
                raise DamagedStreamError("it ends in the middle")
        try:
            piece = decoder.decompress(data, MADE)
        except _faults() as error:
            raise DamagedStreamError(str(error) or "it is damaged") from error
        data = b""
        if piece:
            filled = True
            yield piece
    return decoder.unused_data, filled


def unpacked(kind: str, read: Read) -> Iterator[bytes]:
    """The pieces of the contents. Frames may follow each other.

    Raises DamagedStreamError, after all that could be unpacked, and Error where a library is
    missing.
    What follows the last frame and is none is left out, as `gzip -d` does.
    """
    data = b""
    empty = 0
    while True:
        data, filled = yield from _one(kind, read, data)
        empty = 0 if filled else empty + 1
        if empty > _MOST_EMPTY:
            raise DamagedStreamError(f"it has more than {_MOST_EMPTY} frames without contents")
        data = data.lstrip(b"\0") if kind in ("xz", "gzip") else data
        while len(data) < 6:
            more = read(TAKEN)
            if not more:
                return
            data = (data + more).lstrip(b"\0") if kind in ("xz", "gzip") else data + more
        if kind_of(data) != kind:
            return

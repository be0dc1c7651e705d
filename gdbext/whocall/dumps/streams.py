"""What is packed, read as a stream: the native module unpacks it, in bounded memory."""

from __future__ import annotations

import os
from typing import BinaryIO

from whocall.base.native_errors import native_sentences
from whocall.base.native_module import native
from whocall.dumps import sparse

_EVERYTHING = (1 << 63) - 1


class DamagedStreamError(Exception):
    """The rest of a stream cannot be unpacked; what came before it is good."""


class Stream:
    """A file, or `size` bytes of it from `offset` on, unpacked where that is packed.

    The file has to stay open. `name` is what to call it. Frames may follow each other; what follows
    the last one and is none is left out, as `gzip -d` does. All raise Error where the file cannot
    be read, and DamagedStreamError after all that could be unpacked.
    """

    def __init__(self, file: BinaryIO, name: str, offset: int = 0, size: int = _EVERYTHING) -> None:
        with native_sentences():
            self._part = native.FilePart(file.fileno(), os.fsencode(name), offset, size)

    def _checked(self, is_short: bool) -> None:
        if is_short and self._part.damage:
            raise DamagedStreamError(self._part.damage)

    def read(self, size: int) -> bytes:
        """Less only at the end."""
        with native_sentences():
            data = self._part.read(size)
        self._checked(len(data) < size)
        return data

    def skip(self, size: int) -> bool:
        """Whether so many bytes were there."""
        with native_sentences():
            was_there = self._part.skip(size)
        self._checked(not was_there)
        return was_there

    def write_to(self, out: BinaryIO) -> None:
        """Writes all that was not read to the empty file."""
        with native_sentences():
            self._part.write(out.fileno(), os.fsencode(sparse.folder()))
        self._checked(True)

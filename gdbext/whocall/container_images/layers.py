"""The layers of a container image: tars that may be packed, each read from start to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from whocall.base.errors import Error
from whocall.base.long_work import working
from whocall.base.records import dataclass
from whocall.dumps.streams import DamagedStreamError, Stream
from whocall.dumps.tar_members import Member, TarFaultError, TarReader


@dataclass(frozen=True)
class Part:
    """A stretch of a file, which stays open as long as somebody has this."""

    file: BinaryIO
    offset: int
    size: int

    @classmethod
    def whole(cls, file: BinaryIO) -> Part:
        """All of it."""
        return cls(file, 0, os.fstat(file.fileno()).st_size)

    def read(self, most: int) -> bytes:
        """Its first bytes."""
        return os.pread(self.file.fileno(), min(most, self.size), self.offset)


Opener = Callable[[], Part]


def parts_of(path: str) -> list[str] | None:
    """None where it leads out of the root."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return None if ".." in parts else parts


class Layers:
    """The layers of one image, lowest first; each can be read as a tar any number of times."""

    def __init__(self, name: str, openers: list[Opener]) -> None:
        self.name = name
        self._openers = openers

    def __len__(self) -> int:
        return len(self._openers)

    def members(self, at: int) -> Iterator[tuple[TarReader, Member]]:
        """The members of the layer as they come. Raises Error where it is damaged."""
        part = self._openers[at]()
        stream = Stream(part.file, self.name, part.offset, part.size)
        reader = TarReader(stream.read, stream.skip)
        try:
            for member in reader:
                working(f"Reading the layers of {self.name}", at / len(self))
                yield reader, member
        except (TarFaultError, DamagedStreamError) as error:
            raise Error(
                f"a layer of {self.name} cannot be read: {error}; save the image anew",
                path=self.name,
            ) from error

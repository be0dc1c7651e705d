"""The layers of a container image: tars that may be packed, each read from start to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from whocall.core.errors import Error
from whocall.core.long_work import working
from whocall.dumps.kinds import HEAD, kind_of
from whocall.dumps.streams import PACKINGS, TAKEN, DamagedStreamError, unpacked
from whocall.dumps.tar_members import Member, TarFaultError, TarReader

Opener = Callable[[], BinaryIO]


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
        with self._openers[at]() as file:
            stream = _Stream(file)
            reader = TarReader(stream.read, stream.skip)
            try:
                for member in reader:
                    working(f"Reading the layers of {self.name}", at / len(self))
                    yield reader, member
            except (TarFaultError, DamagedStreamError, OSError) as error:
                raise Error(
                    f"a layer of {self.name} cannot be read: {error}; save the image anew",
                    path=self.name,
                ) from error


class _Stream:
    """The bytes of a layer, unpacked where it is packed."""

    def __init__(self, file: BinaryIO) -> None:
        head = file.read(HEAD)
        self._rest = b""
        self._file = file
        kind = kind_of(head)
        pieces = self._pieces(head)
        self._source = (
            unpacked(kind, lambda size: next(pieces, b"")) if kind in PACKINGS else pieces
        )

    def _pieces(self, head: bytes) -> Iterator[bytes]:
        while head:
            yield head
            head = self._file.read(TAKEN)

    def read(self, size: int) -> bytes:
        """Less only at the end."""
        parts = [self._rest]
        have = len(self._rest)
        while have < size:
            piece = next(self._source, b"")
            if not piece:
                break
            parts.append(piece)
            have += len(piece)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def skip(self, size: int) -> bool:
        """Whether so many bytes were there."""
        while size > len(self._rest):
            size -= len(self._rest)
            self._rest = next(self._source, b"")
            if not self._rest:
                return False
        self._rest = self._rest[size:]
        return True

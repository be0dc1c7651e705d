"""Reads a tar one member after the other: forwards only, in bounded memory, and to its end.

Python's tarfile is meant for tars that one trusts: it keeps headers of any size that a header
claims, and some versions follow sizes below zero backwards for ever. Of it only the reading of one
header is taken. Members that are kept as sparse files are told without a kind: programs that write
layers make none.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Mapping

from whocall.base.records import dataclass

_BLOCK = 512
_MOST_TEXT = 1 << 20  # bytes of a long name or an extended header
_MOST_BYTES = 1 << 62  # of a member, far beyond what a file can be
_MOST_BEFORE_ONE = 64  # headers that speak of the member behind them
_NAMES = {tarfile.GNUTYPE_LONGNAME: "path", tarfile.GNUTYPE_LONGLINK: "linkpath"}
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_IS_EXTENDED, _GOES_ON = 482, 504  # in headers of sparse files: whether another one follows
_KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.CONTTYPE: "file",
    tarfile.DIRTYPE: "directory",
    tarfile.SYMTYPE: "symbolic link",
    tarfile.LNKTYPE: "hard link",
}
_WITHOUT_DATA = (
    *(tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE),
    *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE),
)


class TarFaultError(Exception):
    """What is wrong with a tar; nothing behind the place can be read."""


@dataclass(frozen=True)
class Member:
    """What a header tells. `kind` is a word of _KINDS, "" for all that is not to be read."""

    name: str
    kind: str
    size: int  # bytes
    target: str  # of a link
    place: int  # of the contents, bytes from the tar's first one


class TarReader:
    """The members of a tar; of each the contents can be read until the next one is asked for."""

    def __init__(self, read: Callable[[int], bytes], skip: Callable[[int], bool]) -> None:
        """`read` returns less than it is asked for only at the end. `skip` passes over so many
        bytes, and returns whether they were there.
        """
        self._read = read
        self._skip = skip
        self._place = 0
        self._left = 0  # bytes of the present member's contents
        self._padding = 0
        self._everywhere: dict[str, str] = {}

    def __iter__(self) -> Iterator[Member]:
        """Raises TarFaultError."""
        member = self._next()
        while member is not None:
            yield member
            member = self._next()

    def contents(self) -> Iterator[bytes]:
        """Of the present member, piece by piece."""
        while self._left:
            piece = self._take(min(self._left, 1 << 20))
            self._left -= len(piece)
            yield piece

    def _take(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) != size:
            raise TarFaultError("it ends in the middle")
        self._place += size
        return data

    def _pass_by(self) -> None:
        size = self._left + self._padding
        if size and not self._skip(size):
            raise TarFaultError("it ends in the middle")
        self._place += size
        self._left = self._padding = 0

    def _header(self) -> tuple[tarfile.TarInfo, bytes] | None:
        """None at the end."""
        self._pass_by()
        block = self._read(_BLOCK)
        if not block and self._place:
            return None
        if len(block) == _BLOCK and not any(block):
            return None
        self._place += _BLOCK
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.TarError as error:
            raise TarFaultError(f"it has a header that is none ({error})") from error
        if info.size < 0:
            raise TarFaultError(f"a header tells of {info.size} bytes")
        return info, block

    def _opens(self, size: int) -> None:
        if size > _MOST_BYTES:
            raise TarFaultError(f"a header tells of {size} bytes")
        self._left = size
        self._padding = -size % _BLOCK

    def _text(self, size: int) -> bytes:
        if size > _MOST_TEXT:
            raise TarFaultError(f"a header of {size} bytes")
        self._opens(size)
        return b"".join(self.contents())

    def _next(self) -> Member | None:
        told = dict(self._everywhere)
        for _ in range(_MOST_BEFORE_ONE):
            found = self._header()
            if found is None:
                return None
            info, block = found
            if info.type in _NAMES:
                text = self._text(info.size).split(b"\0", 1)[0]
                told[_NAMES[info.type]] = text.decode("utf-8", "surrogateescape")
            elif info.type in _EXTENDED:
                told.update(_records(self._text(info.size)))
            elif info.type == tarfile.XGLTYPE:
                self._everywhere = dict(_records(self._text(info.size)))
                told.update(self._everywhere)
            else:
                return self._member(info, block, told)
        raise TarFaultError("it has headers without a member behind them")

    def _member(self, info: tarfile.TarInfo, block: bytes, told: Mapping[str, str]) -> Member:
        goes_on = info.type == tarfile.GNUTYPE_SPARSE and block[_IS_EXTENDED]
        while goes_on:
            goes_on = self._take(_BLOCK)[_GOES_ON]
        sparse = any(key.startswith("GNU.sparse.") for key in told)
        size = info.size
        if told.get("size", "").isascii() and told.get("size", "").isdecimal():
            size = int(told["size"][:20])
        self._opens(0 if info.type in _WITHOUT_DATA else size)
        return Member(
            told.get("path", info.name).rstrip("/"),
            "" if sparse else _KINDS.get(info.type, ""),
            size,
            told.get("linkpath", info.linkname),
            self._place,
        )


def _records(text: bytes) -> Iterator[tuple[str, str]]:
    """`LENGTH KEY=VALUE` and a line's end, one after the other; what is none ends them."""
    at = 0
    while at < len(text):
        digits, blank, _ = text[at : at + 20].partition(b" ")
        if not blank or not digits.isdigit() or int(digits) <= len(digits) + 2:
            return
        record = text[at + len(digits) + 1 : at + int(digits) - 1]
        key, equals, value = record.decode("utf-8", "surrogateescape").partition("=")
        if not equals:
            return
        yield key, value
        at += int(digits)

"""Keeps what is unpacked in a temporary file without a name, which is gone when it is closed.

Nobody has to remove it: neither Ctrl-C nor a kill leaves it behind. Pages of zeros are holes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from typing import BinaryIO

from whocall.core.errors import Error
from whocall.core.long_work import working

_BLOCK = 4096
_ZEROS = bytes(_BLOCK)
_LIMIT = 64 << 30  # bytes, holes too
_LIMIT_NAME = "WHOCALL_UNPACK_LIMIT"
_SPARE = 256 << 20  # bytes that stay free on the disk
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOOK = 64 << 20  # bytes written between two looks at the disk


_own = ""  # a folder of this process, below folder(), where it may write nowhere else


def use(own: str) -> None:
    """From now on temporary files are made in `own`."""
    global _own
    _own = own


def place() -> str:
    """Where temporary files are made."""
    return _own or folder()


def folder() -> str:
    """Where large files belong: $TMPDIR, else /var/tmp, which is never in memory."""
    for place in (os.environ.get("TMPDIR", ""), "/var/tmp"):
        if place and os.access(place, os.W_OK):
            return place
    import tempfile

    return tempfile.gettempdir()


def limit() -> int:
    """Bytes that a file may unpack to."""
    text = os.environ.get(_LIMIT_NAME, "")
    if not text:
        return _LIMIT
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}.get(text[-1:].upper(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal():
        raise Error(f"{_LIMIT_NAME} is {text!r}: give a number of bytes, such as 200G")
    return int(digits) * factor


def temporary() -> BinaryIO:
    """A file without a name."""
    import tempfile

    try:
        return tempfile.TemporaryFile(dir=place(), buffering=0)
    except OSError as error:
        raise Error(
            f"cannot make a temporary file in {folder()}: {error.strerror}; name another folder"
            " in TMPDIR"
        ) from error


def path_of(file: BinaryIO) -> str:
    """A path under which this process and those that it starts can open the file."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def require_room(size: int, name: str, file: BinaryIO | None = None) -> None:
    """Raises Error where so many bytes are not to be written; `name` is what they come from. They
    go to `file`, or to files in folder(). Where nobody asked for a file by its name, some space
    stays free.
    """
    require_size(size, name)
    found = os.statvfs(folder()) if file is None else os.fstatvfs(file.fileno())
    is_ours = file is None or os.fstat(file.fileno()).st_nlink == 0
    if found.f_bavail * found.f_frsize < size + (_SPARE if is_ours else 0):
        raise full(name, file)


def require_size(size: int, name: str) -> None:
    """Raises Error where so many bytes are more than what `name` may unpack to."""
    if size > limit():
        raise _too_large(name)


def _too_large(name: str) -> Error:
    return Error(
        f"{name} unpacks to more than {limit() >> 20} MiB; if that is right, allow it:"
        f" {_LIMIT_NAME}={(limit() >> 30) * 4 or 1}G"
    )


def full(name: str, file: BinaryIO | None) -> Error:
    """Says which disk is full: not every file lies in folder()."""
    where = folder()
    remedy = "name another folder in TMPDIR"
    if file is not None and os.fstat(file.fileno()).st_nlink > 0:
        where = os.path.dirname(os.readlink(f"/proc/self/fd/{file.fileno()}"))
        remedy = "write to another folder"
    return Error(f"{name} cannot be unpacked: {where} is full; free some space, or {remedy}")


def _runs(piece: bytes, place: int) -> Iterable[tuple[int, int]]:
    """What of the piece, which belongs at `place`, is not zero: half-open ranges of whole pages."""
    start = None
    at = 0
    while at < len(piece):
        end = min(at + _BLOCK - (place + at) % _BLOCK, len(piece))
        block = piece[at:end]
        if block == _ZEROS or (len(block) < _BLOCK and not any(block)):
            if start is not None:
                yield start, at
                start = None
        elif start is None:
            start = at
        at = end
    if start is not None:
        yield start, len(piece)


def _put(descriptor: int, piece: bytes, place: int) -> int:
    """Returns how many bytes were written."""
    written = 0
    view = memoryview(piece)
    for begin, end in _runs(piece, place):
        done = begin
        while done < end:
            done += os.pwrite(descriptor, view[done:end], place + done)
        written += end - begin
    return written


def write_sparse(
    pieces: Iterable[bytes],
    file: BinaryIO,
    name: str,
    share: Callable[[], float | None] | None = None,
) -> int:
    """Writes the pieces one after the other; returns the size, bytes. `name` is for complaints and
    for people who wait; `share` tells how much of the input was read, 0 to 1.
    """
    most = limit()
    size = unseen = 0
    descriptor = file.fileno()
    try:
        for piece in pieces:
            if size + len(piece) > most:
                raise _too_large(name)
            unseen += _put(descriptor, piece, size)
            size += len(piece)
            working(f"Unpacking {name}", None if share is None else share())
            if unseen > _LOOK:
                require_room(0, name, file)
                unseen = 0
    except OSError as error:
        if error.errno in NO_ROOM:
            raise full(name, file) from error
        raise
    finally:
        os.ftruncate(descriptor, size)  # also what is left of a damaged stream
    return size

"""Keeps what is unpacked in a temporary file without a name, which is gone when it is closed.

Nobody has to remove it: neither Ctrl-C nor a kill leaves it behind. Pages of zeros are holes; the
native module writes them, and knows how much may be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import BinaryIO

from whocall.base.errors import Error
from whocall.base.long_work import working
from whocall.base.native_errors import native_sentences

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
    from whocall.base.native_module import native

    with native_sentences():
        native.require_room(
            size, os.fsencode(name), os.fsencode(folder()), -1 if file is None else file.fileno()
        )


def _number(file: BinaryIO | None) -> int:
    return -1 if file is None else file.fileno()


def require_size(size: int, name: str) -> None:
    """Raises Error where so many bytes are more than what `name` may unpack to."""
    from whocall.base.native_module import native

    with native_sentences():
        native.require_size(size, os.fsencode(name))


def write_sparse(pieces: Iterable[bytes], file: BinaryIO, name: str) -> int:
    """Writes the pieces one after the other; returns the size, bytes. `name` is for complaints and
    for people who wait. Raises Error.
    """
    from whocall.base.native_module import native

    with native_sentences():
        out = native.SparseFile(file.fileno(), os.fsencode(folder()), os.fsencode(name))
        try:
            for piece in pieces:
                out.write(piece)
                working(f"Unpacking {name}")
        finally:
            size = out.end()
    return size

"""Symbol files that were made before, in the user's own cache directory.

A file found there is used only when it is ours: a regular file that belongs to the user, that
nobody else can write, with the checksum that it was written with.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from whocall.base.cache_folder import cache_folder, is_ours
from whocall.base.errors import Error
from whocall.base.stale_files import hold, sweep
from whocall.base.version import __version__

FORMAT = 3  # counts up whenever the contents of the files that we write change
_MAGIC = b"whocall\0"
# Behind the ELF file, where no reader of it looks, stand facts about it as JSON, and behind these:
# magic, size of the ELF file, size of the facts, checksum of both.
_TRAILER = struct.Struct("<8sQQQ")
_PIECE = 1 << 17  # bytes that are read at once, so that they stay where the processor finds them
_NEW = re.compile(r"\.new-[a-z0-9_]{8}\Z")

Facts = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """A file that can be given to a debugger, and what was written down about it."""

    path: Path
    facts: Facts
    empty: bool  # there is nothing to tell of the module


def directory() -> Path:
    """The user's cache. Raises Error."""
    return Path(cache_folder())


def key_of(file: str, build_id: str | None, settings: str) -> str | None:
    """The name under which the symbol file of `file` is kept; None when it cannot be told.

    Files of one build may differ (stripped or not, tables removed), and copies have the same time,
    so it is the very file that counts, and `settings`, which is whatever else the contents depend
    on.
    """
    try:
        status = Path(file).stat()
    except OSError:
        return None
    identity = f"{FORMAT}\0{__version__}\0{status.st_size}\0{status.st_mtime_ns}\0{settings}"
    identity += f"\0{os.path.realpath(file)}\0{status.st_ino}\0{status.st_dev}"
    digest = hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest()[:16]
    return f"{build_id or 'none'}-{digest}.symbols"


def is_key(text: object) -> bool:
    """Whether it is such a name."""
    return isinstance(text, str) and re.fullmatch(r"\w+-[0-9a-f]{16}\.symbols", text) is not None


def find(key: str) -> Kept | None:
    """The whole and unchanged file that was kept under `key`; None when there is none."""
    path = directory() / key
    # Neither through a link, nor waiting for somebody who writes to a pipe.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            return _read(path, file, status.st_size) if is_ours(status) else None
    except OSError:
        return None


def _read(path: Path, file: FileIO, length: int) -> Kept | None:
    body = length - _TRAILER.size
    trailer = os.pread(file.fileno(), _TRAILER.size, max(body, 0))
    if len(trailer) != _TRAILER.size:
        return None
    magic, size, facts_size, checksum = _TRAILER.unpack(trailer)
    if magic != _MAGIC or size + facts_size != body:
        return None
    facts = os.pread(file.fileno(), facts_size, size)
    if _checksum(_pieces_of(file, size), facts) != checksum:
        return None
    return Kept(path, json.loads(facts), size == 0)


def _pieces_of(file: FileIO, size: int) -> Iterator[memoryview]:
    """The first `size` bytes, or less where the file has become shorter."""
    piece = memoryview(bytearray(_PIECE))
    while size > 0:
        length = file.readinto(piece[: min(size, _PIECE)])
        if not length:
            return
        yield piece[:length]
        size -= length


def _checksum(pieces: Iterable[memoryview], facts: bytes) -> int:
    """Of a file in pieces of _PIECE bytes, but for the last, and what stands behind it."""
    from whocall.base.native_module import native

    checksum = 0
    for piece in pieces:
        checksum = native.checksum(piece, checksum)
    return native.checksum(facts, checksum)


def keep(key: str, contents: bytes | memoryview, facts: Facts) -> Kept:
    """Writes the file at once and whole, for the user alone. Raises Error."""
    path = directory() / key
    written = json.dumps(facts).encode()
    view = memoryview(contents)
    pieces = (view[at : at + _PIECE] for at in range(0, len(view), _PIECE))
    trailer = _TRAILER.pack(_MAGIC, len(contents), len(written), _checksum(pieces, written))
    write_whole(path, contents, written, trailer)
    return Kept(path, facts, not contents)


def write_new(folder: Path, contents: bytes | memoryview) -> Path:
    """A file of its own for `contents`. Raises Error."""
    try:
        handle, name = tempfile.mkstemp(suffix=".symbols", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
    except OSError as error:
        raise Error(f"no file can be written in {folder}: {error.strerror}") from error
    return Path(name)


def write_whole(path: Path, *parts: bytes | memoryview) -> None:
    """All of the file or nothing of it; whatever stood there is replaced. Raises Error."""
    name = ""
    try:
        sweep(path.parent, _NEW)
        handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        hold(handle)
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            Path(name).replace(path)
    except OSError as error:
        if name:
            with contextlib.suppress(OSError):
                Path(name).unlink()
        raise Error(f"the symbol file {path} cannot be written: {error.strerror}") from error

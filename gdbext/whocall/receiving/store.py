"""Where reports are kept: files of their owner alone, which are there whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from whocall.base.errors import Error
from whocall.base.records import dataclass

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME = 48  # letters of a program's
_PAGE = 4096  # bytes
_MOST_OF_A_NAME = 1000  # crashes of one name in one second


@dataclass(frozen=True)
class Place:
    """A file that has no name yet."""

    suffix: str
    descriptor: int


class Store:
    """A folder that is filled up to `most` bytes. Raises Error where nothing can be kept."""

    def __init__(self, folder: str, most: int) -> None:
        self.folder = Path(folder).absolute()
        self._most = most
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(self._unnamed())
        except OSError as error:
            text = f"{folder}: no report can be kept there: {error.strerror}; choose another place"
            raise Error(text, path=folder) from error

    def _unnamed(self) -> int:
        return os.open(self.folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def room(self) -> int:
        """Bytes that it may still hold. A file takes a page at least."""
        with os.scandir(self.folder) as entries:
            held = sum(
                max(entry.stat(follow_symlinks=False).st_size, _PAGE)
                for entry in entries
                if entry.is_file(follow_symlinks=False)
            )
        return self._most - held

    def places(self, suffixes: Sequence[str]) -> list[Place]:
        """New files, to be written by whoever has their descriptors. Raises Error."""
        if self.room() <= 0:
            raise Error(f"{self.folder} is full: empty it, or let it grow by --quota")
        try:
            return [Place(suffix, self._unnamed()) for suffix in suffixes]
        except OSError as error:
            raise Error(f"{self.folder}: {error.strerror}") from error

    def keep(self, places: Sequence[Place], program: str, process: int) -> list[str]:
        """Gives them names, which are returned. Raises Error."""
        name = _UNSAFE.sub("_", program)[:_LONGEST_NAME].lstrip(".") or "_"
        stem = f"{name}-{process}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        try:
            return [self._named(place, stem) for place in places]
        except OSError as error:
            raise Error(f"{self.folder}: {error.strerror}") from error

    def _named(self, place: Place, stem: str) -> str:
        for attempt in range(_MOST_OF_A_NAME):
            another = f".{attempt}" if attempt else ""
            path = self.folder / f"{stem}{another}{place.suffix}"
            with suppress(FileExistsError):
                _link(place.descriptor, path)
                return str(path)
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))


def _link(descriptor: int, path: Path) -> None:
    """Gives a file without a name one. (Python follows a link only where it is told a folder.)"""
    folder = os.open("/proc/self/fd", os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(str(descriptor), path, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def drop(places: Sequence[Place]) -> None:
    """Closes them: those that were not kept are gone."""
    for place in places:
        os.close(place.descriptor)

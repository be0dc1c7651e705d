"""Files that were being written when their writer was killed: the next one removes them.

Whoever writes a file beside its place holds a lock on it, which the kernel takes away when that
process ends, however it does. What nobody holds any more was left behind.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

_FRESH = 10  # seconds: a file may not be locked yet
_MOST = 4096  # files of a folder that are looked at


def hold(descriptor: int) -> None:
    """Says of a file that it is being written. (Where nothing can be locked nothing is swept.)"""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sweep(folder: str | os.PathLike[str], name: re.Pattern[str]) -> None:
    """Removes this user's files of such names in a folder that nobody writes any more."""
    try:
        with os.scandir(folder) as entries:
            found = [
                entry.name for entry, _ in zip(entries, range(_MOST)) if name.match(entry.name)
            ]
    except OSError:
        return
    for each in found:
        with suppress(OSError):
            _remove(Path(folder) / each)


def _remove(path: Path) -> None:
    status = path.lstat()
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    if not ours or status.st_nlink != 1 or time.time() - status.st_mtime < _FRESH:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(status, os.fstat(descriptor)):
            path.unlink()
    finally:
        os.close(descriptor)

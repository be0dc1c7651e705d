"""The one way to files that are read: by paths of users, of cores, of images and of stores.

What is no regular file is looked at and never opened: a device may act on that (a watchdog, a
tape), the writer of a fifo is let go and loses what it writes, and who opens a fifo that nobody
writes to waits for good. What a shell has opened for us (`<(...)`, /dev/stdin) is taken as it
stands, by its descriptor.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys

from whocall.base.errors import Error

_TO_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_BUFFER = 1 << 13  # bytes that are read at once
_HANDED = ("/dev/fd/", "/proc/self/fd/")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def handed(path: str) -> int | None:
    """The descriptor that a path such as /dev/fd/63 stands for; None for any other path."""
    if path in _STANDARD:
        return _STANDARD[path]
    folder, slash, number = path.rpartition("/")
    if folder + slash in _HANDED and number.isascii() and number.isdecimal() and len(number) < 9:
        return int(number)
    return None


def open_regular(path: str | os.PathLike[str], buffer: int = _BUFFER) -> io.BufferedReader:
    """The regular file at `path`, from its beginning. Raises OSError, also for what is none."""
    name = os.fspath(path)
    if "\0" in name:  # as a file may call another
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    seen = os.open(name, os.O_PATH | os.O_CLOEXEC)
    try:
        return io.BufferedReader(io.FileIO(_looked_at(seen, name)), buffer)
    finally:
        os.close(seen)


def _looked_at(seen: int, path: str) -> int:
    """Opens the very file that was looked at. Without /proc its path is taken once more, and what
    is open then compared.
    """
    status = os.fstat(seen)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", path)
    try:
        return os.open(f"/proc/self/fd/{seen}", _TO_READ)
    except OSError:
        number = os.open(path, _TO_READ)
    if not os.path.samestat(os.fstat(number), status):
        os.close(number)
        raise OSError(errno.ESTALE, "another file was put there meanwhile", path)
    return number


def open_stream(path: str, buffer: int = _BUFFER) -> io.BufferedReader:
    """The same, and what a shell has opened: it can be read once. Raises OSError."""
    number = handed(path)
    if number is None or stat.S_ISREG(os.fstat(number).st_mode):
        return open_regular(path, buffer)
    return io.BufferedReader(io.FileIO(os.dup(number)), buffer)


def standard_input(buffer: int = _BUFFER) -> io.BufferedReader:
    """As it stands. Raises Error where whoever started us has closed it."""
    try:
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False), buffer)
    except (AttributeError, OSError, ValueError):
        raise Error("standard input is closed: name a file") from None


def read_text(path: str) -> str:
    """What a user hands to a command, in UTF-8; "-" is standard input. Raises OSError and
    ValueError.
    """
    if path == "-":
        return standard_input().read().decode("utf-8")
    with open_stream(path) as file:
        return file.read().decode("utf-8")

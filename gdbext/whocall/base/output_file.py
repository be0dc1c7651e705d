"""The one way in which files are written that a user names.

A regular file appears whole or not at all: it is written beside its place, and put there at the
end. What is no regular file (a pipe, a device, what /dev/stdout stands for) is written to and stays
what it is. A link is followed, unless somebody else has put it into a folder that is everyone's.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from whocall.base.errors import Error
from whocall.base.regular_file import handed
from whocall.base.stale_files import hold, sweep

_LINKS = 40  # on the way to one file, as the kernel allows
_INTO = os.O_WRONLY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
_PRIVATE, _PUBLIC = 0o600, 0o666
_SHUT = (errno.EACCES, errno.EPERM, errno.EROFS)  # why nothing new may lie in a folder


def unwritten(path: str, error: OSError) -> Error:
    """What to raise where something cannot be written."""
    reason = f"cannot be written: {error.strerror or error}"
    if error.errno == errno.ENXIO:
        reason = "cannot be written: nobody reads from it"
    return Error(
        f"{path}: {reason}; choose another place",
        path=path,
        reason=reason,
        remedy="Choose another place",
    )


# What was opened before this process gave up writing, by what the user calls it, or why that could
# not be; and who puts such a file in its place.
_early: dict[str, _Beside | int | OSError | Error] = {}
_of_processes: dict[str, int] = {}  # descriptors of files that processes have open, likewise
_putting: Callable[[str, int], None] | None = None


class WrittenFile(io.FileIO):
    """Bytes on their way to what the user calls `called`: what goes wrong there is an Error, which
    nobody takes for one of what is read meanwhile. A pipe whose reader has gone stays what it is.
    """

    def __init__(self, descriptor: int, called: str, mode: str = "w", closefd: bool = True) -> None:
        super().__init__(descriptor, mode, closefd=closefd)
        self._called = called

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unwritten(self._called, error) from error


def _place(path: Path) -> Path:
    """Where the file lies that a path leads to, links followed. Raises Error and OSError."""
    for _ in range(_LINKS):
        try:
            status = path.lstat()
        except FileNotFoundError:
            return path
        if not stat.S_ISLNK(status.st_mode):
            return path
        above = path.parent.stat()
        everyones = above.st_mode & stat.S_ISVTX and above.st_mode & stat.S_IWOTH
        if everyones and status.st_uid not in (os.geteuid(), above.st_uid):
            raise Error(
                f"{path} is a link that user {status.st_uid} has put there: name the file itself",
                path=str(path),
            )
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def is_special(path: str) -> bool:
    """Whether what is written goes to something else than a file of its own."""
    if handed(path) is not None or _is_of_process(path):
        return True
    there = Path(path)
    return there.exists() and not there.is_file()


def _is_of_process(path: str) -> bool:
    """Whether it stands for what some process has open: a file that may have no name by now, in
    whose place nothing can be put.
    """
    parts = path.split("/")
    return len(parts) == 5 and (*parts[:2], parts[3]) == ("", "proc", "fd")


def _opened_of_process(path: str) -> int | None:
    """A descriptor of the regular file that a process has open; None where it is none. Raises
    OSError.
    """
    if handed(path) is not None or not _is_of_process(path) or not Path(path).is_file():
        return None
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


def prepare(path: str) -> None:
    """Opens what writing() will be asked for, while that is possible; a fault is raised there."""
    try:
        descriptor = _opened_of_process(path)
        if descriptor is not None:
            _of_processes[path] = descriptor
        elif is_special(path):
            _early[path] = _special(path)
        else:
            _early[path] = _Beside(_place(Path(path)), ".whocall-")
    except (OSError, Error) as error:
        _early[path] = error


def put_by(putting: Callable[[str, int], None]) -> None:
    """From now on another process puts what was prepared in its place, by put_prepared()."""
    global _putting
    _putting = putting


def put_prepared(path: str, mode: int) -> None:
    """Puts what was prepared for `path` in its place. Raises OSError."""
    beside = _early.pop(path, None)
    if isinstance(beside, _Beside):
        beside.put(mode)


def drop_prepared() -> None:
    """What was prepared and not put is not wanted any more."""
    for beside in _early.values():
        if isinstance(beside, _Beside):
            beside.drop()


@contextmanager
def writing(
    path: str | os.PathLike[str], *, private: bool, unbuffered: bool = False
) -> Iterator[BinaryIO]:
    """A file to write to. Raises Error.

    A new one is readable for its user alone where it is `private`, else as the umask says; an old
    one's permissions stay. When the caller fails, what was there stays. An `unbuffered` one can be
    read too, and be written to anywhere.
    """
    called = os.fspath(path)
    early = _early.get(called)
    try:
        if isinstance(early, OSError):
            raise _PlaceError(early)
        if isinstance(early, Error):
            raise early
        descriptor = _of_processes.pop(called, None)
        if descriptor is None and early is None:
            with _at_output():
                descriptor = _opened_of_process(called)
        if descriptor is not None:
            how = _into(descriptor, called, unbuffered)
        elif is_special(called):
            how = _all_at_once(called) if unbuffered else _to_special(called)
        else:
            with _at_output():
                place = _place(Path(called))
            how = _to_regular(place, called, private, unbuffered)
        with how as file:
            yield file
    except BrokenPipeError:
        raise
    except _PlaceError as error:
        raise unwritten(called, error.cause) from error.cause


@contextmanager
def writing_text(path: str | os.PathLike[str], *, private: bool) -> Iterator[TextIO]:
    """The same for text; names of files may be in it."""
    with writing(path, private=private) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape")
        yield text
        text.flush()
        text.detach()


def write_bytes(path: str | os.PathLike[str], *parts: bytes | memoryview, private: bool) -> None:
    """All parts, one after the other. Raises Error."""
    with writing(path, private=private) as file:
        for part in parts:
            file.write(part)


class _PlaceError(Exception):
    """What went wrong at the output, and not with what the caller does beside."""

    def __init__(self, cause: OSError) -> None:
        super().__init__()
        self.cause = cause


@contextmanager
def _at_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _PlaceError(error) from error


@contextmanager
def _into(descriptor: int, called: str, unbuffered: bool) -> Iterator[BinaryIO]:
    os.ftruncate(descriptor, 0)
    raw = WrittenFile(descriptor, called, "r+")
    with raw if unbuffered else io.BufferedWriter(raw) as file:
        yield file


@contextmanager
def _to_special(called: str) -> Iterator[BinaryIO]:
    with _at_output():
        early = _early.pop(called, None)
        descriptor = early if isinstance(early, int) else _special(called)
    with io.BufferedWriter(WrittenFile(descriptor, called)) as file:
        yield file


@contextmanager
def _all_at_once(called: str) -> Iterator[BinaryIO]:
    """In a file without a name first, for writers that go back and forth."""
    with _to_special(called) as out, tempfile.TemporaryFile(buffering=0) as whole:
        yield whole
        whole.seek(0)
        shutil.copyfileobj(whole, out)


def _special(called: str) -> int:
    number = handed(called)
    if number is not None:
        return os.dup(number)
    descriptor = os.open(called, _INTO & ~os.O_NOFOLLOW)
    os.set_blocking(descriptor, True)
    return descriptor


@contextmanager
def _to_regular(place: Path, called: str, private: bool, unbuffered: bool) -> Iterator[BinaryIO]:
    with _at_output():
        early = _early.pop(called, None)
        beside = early if isinstance(early, _Beside) else _Beside(place, f".{place.name[:32]}.")
    try:
        raw = WrittenFile(beside.descriptor, called, "r+")
        with raw if unbuffered else io.BufferedWriter(raw) as file:
            yield file
        mode = _PRIVATE if private else _PUBLIC
        with _at_output():
            if beside is early and _putting is not None:
                _putting(called, mode)
            else:
                beside.put(mode)
    except BaseException:
        beside.drop()
        raise


class _Beside:
    """A new file in the folder of its `place`, else, where nothing new may lie there, among
    temporary ones.
    """

    def __init__(self, place: Path, prefix: str) -> None:
        self._place = place
        self._before = place.stat() if place.exists() else None
        left = re.compile(re.escape(prefix) + r"[a-z0-9_]{8}\.part\Z")
        sweep(place.parent, left)
        try:
            self.descriptor, path = tempfile.mkstemp(".part", prefix, place.parent)
        except OSError as error:
            shut = error.errno in _SHUT and os.access(place, os.W_OK)
            if self._before is None or not shut:
                raise
            self.descriptor, path = tempfile.mkstemp(".part", "whocall-")
        hold(self.descriptor)
        self._path = Path(path)

    def put(self, mode: int) -> None:
        """In its place; `mode` is that of a new one, before the umask. Raises OSError."""
        _put(self._path, self._place, self._before, mode)

    def drop(self) -> None:
        """It is not wanted any more."""
        with suppress(OSError):
            self._path.unlink()


def _put(beside: Path, place: Path, before: os.stat_result | None, mode: int) -> None:
    if before is not None:
        with suppress(OSError):  # root's new file stays the old one's owner's
            os.chown(beside, before.st_uid, before.st_gid)
        beside.chmod(stat.S_IMODE(before.st_mode) & 0o777)
    else:
        umask = os.umask(0o077)
        os.umask(umask)
        beside.chmod(mode & ~umask)
    try:
        beside.replace(place)
    except OSError as error:
        if before is None or error.errno not in (errno.EXDEV, errno.EBUSY, *_SHUT):
            raise
        out = os.fdopen(os.open(place, _INTO | os.O_TRUNC), "wb")
        with out, beside.open("rb") as whole:
            shutil.copyfileobj(whole, out)
        beside.unlink()

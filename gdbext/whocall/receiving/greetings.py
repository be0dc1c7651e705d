"""The socket that processes connect to when they crash, and what each of them says.

Who they are is what the kernel says. No file of theirs is taken, and nobody is waited for.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whocall.base.errors import Error
from whocall.base.printable import printable
from whocall.base.records import dataclass

_READY, _GO = b"READY", b"GO"
_LONGEST_RECORD = 16 << 10  # bytes
_PATIENCE = 2.0  # seconds that a process may take for an answer: it waits for nothing else
_BACKLOG = 1000
_AT_ONCE = 64  # who come: others have their turn between
_CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group
_LONGEST_ANSWER = 500  # bytes


@dataclass(frozen=True)
class Greeting:
    """A process that has crashed, as the kernel knows it, and the way to speak to it."""

    process: int
    user: int
    group: int
    channel: socket.socket
    until: float  # by the clock that never goes back: then it is not heard any more

    def fileno(self) -> int:
        """Readable when it says something, or has gone."""
        return self.channel.fileno()


class Listener:
    """Listens at a path, for processes of this user, or with `everyone` of all. Raises Error."""

    def __init__(self, path: str, *, everyone: bool) -> None:
        self.path = Path(path).absolute()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        try:
            self._bind(0o666 if everyone else 0o600)
        except BaseException:
            self._socket.close()
            raise
        self._inode = self.path.stat().st_ino

    def _bind(self, mode: int) -> None:
        before = os.umask(0o777 & ~mode)
        try:
            self._bind_or_replace()
            self._socket.listen(_BACKLOG)
        except OSError as error:
            why = error.strerror or str(error)  # Python's own of one that is too long
            text = f"{self.path}: nobody can listen there: {why}"
            raise Error(text, path=str(self.path)) from error
        finally:
            os.umask(before)

    def _bind_or_replace(self) -> None:
        try:
            self._socket.bind(str(self.path))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or not self._is_left_behind():
                raise
            self.path.unlink()
            self._socket.bind(str(self.path))

    def _is_left_behind(self) -> bool:
        """By one that was killed: a socket at which nobody listens."""
        if not stat.S_ISSOCK(self.path.lstat().st_mode):
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            try:
                asking.connect(str(self.path))
            except ConnectionRefusedError:
                return True
        return False

    def fileno(self) -> int:
        """Readable when somebody comes."""
        return self._socket.fileno()

    def greetings(self, patience: float) -> Iterator[Greeting]:
        """Some who have come; each has so many seconds for its record."""
        for _ in range(_AT_ONCE):
            try:
                channel, _ = self._socket.accept()
            except OSError:  # nobody is left, or there is no room for another one
                return
            who = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            channel.setblocking(False)
            process, user, group = _CREDENTIALS.unpack(who)
            yield Greeting(process, user, group, channel, time.monotonic() + patience)

    def close(self, *, for_good: bool = True) -> None:
        """Nobody listens any more; not `for_good`: this copy of us does not."""
        self._socket.close()
        with suppress(OSError):
            if for_good and self.path.stat().st_ino == self._inode:
                self.path.unlink()


def record_of(greeting: Greeting) -> bytes:
    """What it has said first: to be asked when that can be read. Raises Error."""
    try:
        return greeting.channel.recv(_LONGEST_RECORD, socket.MSG_DONTWAIT)
    except OSError as error:
        raise Error("it has ended") from error


def has_gone(greeting: Greeting) -> bool:
    """Whether it has ended without a word: to be asked when something can be read."""
    try:
        return not greeting.channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def get_leave(greeting: Greeting) -> None:
    """Asks the process to let us look at it. Raises Error where it does not."""
    import select

    channel = greeting.channel
    try:
        channel.send(_READY, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        poll = select.poll()  # select() knows no file beyond the first thousand
        poll.register(channel, select.POLLIN)
        if not poll.poll(_PATIENCE * 1000):
            raise Error("it does not answer")
        if channel.recv(len(_GO) + 1, socket.MSG_DONTWAIT) != _GO:
            raise Error("it has ended, or says what it cannot mean")
    except OSError as error:
        raise Error("it has ended") from error


def is_waiting(greeting: Greeting) -> bool:
    """Whether the process has not gone: what has its number is what came, then."""
    import select

    poll = select.poll()
    poll.register(greeting.channel, select.POLLHUP | select.POLLERR)
    return not poll.poll(0)


def answer(greeting: Greeting, sentence: str, *, is_made: bool) -> None:
    """Lets the process go on its way, told where its report is, or why there is none."""
    said = (b"+" if is_made else b"-") + os.fsencode(printable(sentence))[:_LONGEST_ANSWER]
    with suppress(OSError):
        greeting.channel.send(said, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    greeting.channel.close()

"""The socket at which processes greet that crash, and what each brings along.

Who greets is what the kernel says. Nothing of what is said there is believed: who greets wrongly
is not heard.
"""

from __future__ import annotations

import array
import errno
import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whocall.base.errors import Error
from whocall.base.records import dataclass

_GREETING = b"WHOCALL1"
_READY = b"READY"
_LONGEST_RECORD = 16 << 10  # bytes
_PATIENCE = 20.0  # seconds that a process may take for its record
_CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group
_MOST_FILES = 4  # that come with one greeting, before the rest is refused by the kernel


@dataclass(frozen=True)
class Peer:
    """Who has said something, as the kernel knows it."""

    process: int
    user: int
    group: int


@dataclass(frozen=True)
class Greeting:
    """A process that has crashed, and the socket over which it waits for what we say."""

    peer: Peer
    channel: socket.socket


def _taken(source: socket.socket, most: int) -> tuple[bytes, Peer | None, list[int]]:
    """One packet, who sent it, and the files that came with it."""
    room = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(4 * _MOST_FILES)
    flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
    data, extras, _, _ = source.recvmsg(most, room, flags)
    peer = None
    files = array.array("i")
    for level, kind, content in extras:
        if level != socket.SOL_SOCKET:
            continue
        if kind == socket.SCM_CREDENTIALS and len(content) == _CREDENTIALS.size:
            peer = Peer(*_CREDENTIALS.unpack(content))
        elif kind == socket.SCM_RIGHTS:
            files.frombytes(content[: len(content) // files.itemsize * files.itemsize])
    return data, peer, list(files)


def _is_channel(file: int) -> bool:
    """Whether it is one end of a pair as libwhocall makes them."""
    if not stat.S_ISSOCK(os.fstat(file).st_mode):
        return False
    with socket.socket(fileno=os.dup(file)) as made:
        return made.family == socket.AF_UNIX and made.type == socket.SOCK_SEQPACKET


class Listener:
    """Listens at a path, for processes of this user, or with `everyone` of all. Raises Error."""

    def __init__(self, path: str, *, everyone: bool) -> None:
        self.path = Path(path).absolute()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
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
        except OSError as error:
            why = error.strerror or str(error)  # Python's own of one that is too long
            raise Error(
                f"{self.path}: nobody can listen there: {why}", path=str(self.path)
            ) from error
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
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
            try:
                asking.connect(str(self.path))
            except ConnectionRefusedError:
                return True
        return False

    def fileno(self) -> int:
        """Readable when somebody greets."""
        return self._socket.fileno()

    def greetings(self) -> Iterator[Greeting]:
        """All that have come."""
        while True:
            try:
                data, peer, files = _taken(self._socket, len(_GREETING) + 1)
            except (BlockingIOError, InterruptedError):
                return
            if data == _GREETING and peer is not None and len(files) == 1 and _is_channel(files[0]):
                yield Greeting(peer, socket.socket(fileno=files[0]))
                continue
            for file in files:
                os.close(file)

    def close(self, *, for_good: bool = True) -> None:
        """Nobody listens any more; not `for_good`: this copy of us does not."""
        self._socket.close()
        with suppress(OSError):
            if for_good and self.path.stat().st_ino == self._inode:
                self.path.unlink()


def hear(greeting: Greeting) -> bytes:
    """The record that the process has for whoever is ready: to be asked by who looks at the
    process, whom the process lets do so. Raises Error.
    """
    channel = greeting.channel
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    try:
        channel.send(_READY, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        _wait(channel)
        data, peer, files = _taken(channel, _LONGEST_RECORD)
    except OSError as error:
        raise Error("it has ended before it said what happened") from error
    for file in files:
        os.close(file)
    if peer is None or peer.process != greeting.peer.process:
        raise Error("another process speaks for it")
    return data


def _wait(channel: socket.socket) -> None:
    """Raises OSError where nothing comes."""
    import select

    if not select.select([channel], [], [], _PATIENCE)[0]:
        raise TimeoutError


def is_waiting(greeting: Greeting) -> bool:
    """Whether the process has not gone: what has its number is what greeted, then."""
    import select

    poll = select.poll()
    poll.register(greeting.channel, select.POLLHUP | select.POLLERR)
    return not poll.poll(0)


def answer(greeting: Greeting, sentence: str) -> None:
    """Lets the process go on its way, as one whose report is made."""
    with suppress(OSError):
        greeting.channel.send(
            os.fsencode(sentence)[:500], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
        )

"""A process beside the one that reads files of strangers, for what that one has given up.

It is forked before, reads no such file, and knows from the command line alone what there is to do:
which outputs to put in their places, whether to ask gdb, which folder to remove at the end. It goes
when the other one goes, however that ends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

from whocall.core.errors import Error
from whocall.core.long_work import tell_long_work
from whocall.core.programs import fork_aside

Json = dict[str, Any]
LookUp = Callable[[], None]  # called now and then by who waits; what it raises ends the waiting
# Answers a request, with the descriptor that came with it.
Service = Callable[[Json, "int | None", LookUp], Json]

_LOOK_UP = 0.25  # seconds
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _GoneError(Exception):
    """The other process needs nothing more."""


class Attendant:
    """As the process that reads sees it."""

    def __init__(self, services: Mapping[str, Service], at_end: Callable[[], None]) -> None:
        """To be called before there are threads."""
        ours, theirs = socket.socketpair()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self._process = fork_aside(lambda: _attend(ours, theirs, services, at_end))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._socket = ours
        # Its end is what the other one waits for: no child of ours may hold it.
        os.register_at_fork(after_in_child=ours.close)

    def ask(
        self, service: str, request: Json, given: int | None = None, look_up: LookUp = lambda: None
    ) -> Json:
        """Raises OSError as the service did, and Error where nobody is there any more."""
        line = json.dumps({**request, "service": service}).encode() + b"\n"
        try:
            socket.send_fds(self._socket, [b"+"], [] if given is None else [given])
            self._socket.sendall(line)
            answer: Json = json.loads(_line_of(self._socket, look_up))
        except BaseException as error:  # what it would still answer is for nobody
            self.close()
            if isinstance(error, (OSError, _GoneError)):
                raise Error("a process of whocall's has ended before its time") from error
            raise
        if "refused" in answer:
            raise Error(answer["refused"])
        if "errno" in answer:
            raise OSError(answer["errno"], answer["said"])
        return answer

    def close(self) -> None:
        """Returns when it has gone."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        os.waitpid(self._process, 0)


def _line_of(connection: socket.socket, look_up: LookUp) -> bytes:
    """Raises _GoneError at the end of the connection."""
    pieces: list[bytes] = []
    while not pieces or pieces[-1][-1:] != b"\n":
        while not select.select([connection], [], [], _LOOK_UP)[0]:
            look_up()
        piece = connection.recv(1 << 16)
        if not piece:
            raise _GoneError
        pieces.append(piece)
    return b"".join(pieces)


def _attend(
    others: socket.socket,
    connection: socket.socket,
    services: Mapping[str, Service],
    at_end: Callable[[], None],
) -> None:
    for number in _SIGNALS:  # a signal to all of a terminal's processes is for the other one
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    others.close()
    for stream, how in ((0, os.O_RDONLY), (1, os.O_WRONLY)):  # whose readers wait for their end
        nowhere = os.open(os.devnull, how)
        os.dup2(nowhere, stream)
        os.close(nowhere)
    tell_long_work(None)

    def look_up() -> None:
        if select.select([connection], [], [], 0)[0]:  # it says nothing while it waits
            raise _GoneError

    try:
        while True:
            head, given, _, _ = socket.recv_fds(connection, 1, 1)
            if not head:
                return
            request = json.loads(_line_of(connection, lambda: None))
            try:
                answer = _answer(services, request, given[0] if given else None, look_up)
            finally:
                for descriptor in given:
                    os.close(descriptor)
            connection.sendall(json.dumps(answer).encode() + b"\n")
    except (_GoneError, OSError):
        return
    finally:
        at_end()


def _answer(
    services: Mapping[str, Service], request: Json, given: int | None, look_up: LookUp
) -> Json:
    service = services.get(request["service"])
    if service is None:
        return {"refused": "this command has no use for that"}
    try:
        return service(request, given, look_up)
    except Error as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"errno": error.errno, "said": error.strerror}


_present: list[Attendant] = []


def set_present(attendant: Attendant) -> None:
    """From now on `present()` is this one."""
    _present[:] = [attendant]


def present() -> Attendant | None:
    """That of this process, where it has one."""
    return _present[0] if _present else None

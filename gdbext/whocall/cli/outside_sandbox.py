"""A process beside the one that reads files of strangers, for what that one has given up.

It is forked before, reads no such file, and knows from the command line alone what there is to do:
which outputs to put in their places, whether to ask gdb, which folder to remove at the end. It goes
when the other one goes, however that ends.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Mapping

from whocall.base.blocked_signals import END, held
from whocall.base.errors import Error
from whocall.base.forked import fork_aside
from whocall.base.long_work import tell_long_work

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Protocol

    Json = dict[str, Any]
    LookUp = Callable[[], None]  # called now and then by who waits; what it raises ends the waiting
    Service = Callable[[Json, LookUp], Json]

    class Beside(Protocol):
        """Who is asked, or passes the question on."""

        def ask(self, service: str, request: Json, look_up: LookUp = ...) -> Json: ...


_LOOK_UP = 0.25  # seconds


class _GoneError(Exception):
    """The other process needs nothing more, or has ended."""


class _Line:
    """Two pipes: JSON goes both ways, a line each."""

    def __init__(self, to_read: int, to_write: int) -> None:
        self.to_read, self._to_write = to_read, to_write
        self._open = True

    def close(self) -> None:
        if self._open:
            self._open = False
            os.close(self.to_read)
            os.close(self._to_write)

    def say(self, what: Json) -> None:
        """Raises OSError where nobody is there."""
        import json

        rest = memoryview(json.dumps(what).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._to_write, rest) :]

    def hear(self, look_up: LookUp | None = None) -> Json:
        """Raises _GoneError where nobody is there."""
        pieces: list[bytes] = []
        while not pieces or pieces[-1][-1:] != b"\n":
            while look_up is not None and not self.waits(_LOOK_UP):
                look_up()
            pieces.append(os.read(self.to_read, 1 << 16))
            if not pieces[-1]:
                raise _GoneError
        import json

        said: Json = json.loads(b"".join(pieces))
        return said

    def waits(self, seconds: float) -> bool:
        """Whether something was said, or the other one has gone."""
        return bool(select.select([self.to_read], [], [], seconds)[0])


class Attendant:
    """As the process that reads sees it."""

    def __init__(self, services: Mapping[str, Service], at_end: Callable[[], None]) -> None:
        """To be called before there are threads."""
        requests, answers = os.pipe(), os.pipe()
        ours, theirs = _Line(answers[0], requests[1]), _Line(requests[0], answers[1])

        def work() -> None:
            ours.close()
            _attend(theirs, services, at_end)

        with held(END):
            self._process = fork_aside(work)
        theirs.close()
        self._line = ours
        self._here = os.getpid()
        # Its end is what the other one waits for: no child of ours may hold it.
        os.register_at_fork(after_in_child=ours.close)

    def ask(self, service: str, request: Json, look_up: LookUp = lambda: None) -> Json:
        """Raises OSError as the service did, and Error where it refuses, or nobody is there."""
        try:
            self._line.say({**request, "service": service})
            answer = self._line.hear(look_up)
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
        if self._process and self._here == os.getpid():
            self._line.close()
            os.waitpid(self._process, 0)
            self._process = 0


def _attend(line: _Line, services: Mapping[str, Service], at_end: Callable[[], None]) -> None:
    for number in END:  # a signal to all of a terminal's processes is for the other one
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END)
    for stream, how in ((0, os.O_RDONLY), (1, os.O_WRONLY)):  # whose readers wait for their end
        nowhere = os.open(os.devnull, how)
        os.dup2(nowhere, stream)
        os.close(nowhere)
    tell_long_work(None)

    def look_up() -> None:
        if line.waits(0):  # it says nothing while it waits for an answer
            raise _GoneError

    try:
        while True:
            line.say(_answer(services, line.hear(), look_up))
    except (_GoneError, OSError):
        return
    finally:
        at_end()


def _answer(services: Mapping[str, Service], request: Json, look_up: LookUp) -> Json:
    service = services.get(request["service"])
    if service is None:
        return {"refused": "this command has no use for that"}
    try:
        return service(request, look_up)
    except Error as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"errno": error.errno, "said": error.strerror}


_present: list[Beside] = []


def set_present(attendant: Beside) -> None:
    """From now on `present()` is this one."""
    _present[:] = [attendant]


def present() -> Beside | None:
    """That of this process, where it has one."""
    return _present[0] if _present else None

"""The helper as gdb sees it: a process that reads what strangers made, and may end over it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error, MemoryShortError, UsageError
from whocall.base.forked import fork_aside, how_it_ended
from whocall.gdb_helper import channel
from whocall.gdb_helper.channel import Channel, ChannelEndError, has_something
from whocall.gdb_helper.current import ThreadsWantedError
from whocall.gdb_helper.worker import Terms, keep_only, work
from whocall.shared_front_end.compiled import compile_package, is_compiled

if TYPE_CHECKING:
    from whocall.report.form.jsonform import Json

_LOOK_UP = 0.1  # seconds after which Ctrl-C is noticed that another thread of gdb has got
_PATIENCE = 0.3  # seconds for the helper to end an answer that nobody wants any more
_ENDING = 2.0  # seconds for the helper to end in order
_ROOM = 1 << 20  # bytes that wait in the pipe
_SENTENCE = 4096  # bytes of the helper's last word
_LAST_WORD = "whocall: "

Taker = Callable[[bytes, bytes], None]
"""Of messages that are not the end."""


class HelperEndError(Error):
    """It ended before its answer did."""


class Helper:
    """One process. It is started by the first question."""

    def __init__(self, terms: Terms) -> None:
        """Raises OSError."""
        # What is imported here need not be there, where no byte code can be kept.
        import whocall.gdb_helper.cores  # noqa: F401

        requests, answers = os.pipe(), os.pipe()
        self._errors, errors = os.pipe()
        for descriptor in (self._errors, errors):
            os.set_blocking(descriptor, False)
        _make_room(answers[0])
        theirs = Channel(requests[0], answers[1])
        gdb = os.getpid()
        if not is_compiled():
            _compile_meanwhile()
        self._line = Channel(answers[0], requests[1])
        try:
            self._process = fork_aside(lambda: work(theirs, errors, gdb, terms))
        except BaseException:  # no process can be had
            self._line.close()
            os.close(self._errors)
            raise
        finally:
            theirs.close()
            os.close(errors)
        self._terms = terms

    @property
    def process(self) -> int:
        """Its number; 0 when it has ended."""
        return self._process

    def ask(self, question: Json, take: Taker) -> Any:
        """What it answers; `take` gets what comes before the end. Raises Error, ThreadsWantedError,
        MemoryShortError, HelperEndError; and whatever `take` raises, and KeyboardInterrupt, after
        which it works no more.
        """
        try:
            try:
                self._line.say(channel.QUESTION, json.dumps(question).encode())
                end, contents = self._heard(take)
            except ChannelEndError as error:
                raise self._ended() from error
        except HelperEndError:
            raise
        except BaseException:
            self._interrupt()
            raise
        return self._result(end, contents)

    def _heard(self, take: Taker) -> tuple[bytes, bytes]:
        while True:
            kind, contents = self._line.hear(channel.KINDS, _wait)
            if kind in channel.ENDS:
                return kind, contents
            take(kind, contents)

    def _result(self, end: bytes, contents: bytes) -> Any:
        if end == channel.DONE:
            try:
                return json.loads(contents)
            except (ValueError, RecursionError) as error:
                self.close()
                raise Error("whocall's helper answers what it cannot mean") from error
        if end == channel.WANTS_THREADS:
            raise ThreadsWantedError
        if end == channel.SHORT_OF_MEMORY:
            self.close()  # what it has taken is in pieces
            raise MemoryShortError
        if end == channel.INTERRUPTED:
            raise KeyboardInterrupt
        text = contents.decode("utf-8", "surrogateescape")
        raise UsageError(text) if end == channel.MISUSED else Error(text)

    def _interrupt(self) -> None:
        """As Ctrl-C does. One that does not obey at once is ended; the next one reads anew."""
        if not self._process:
            return
        until = time.monotonic() + _PATIENCE

        def wait(descriptor: int) -> None:
            if not has_something(descriptor, until - time.monotonic()):
                raise ChannelEndError

        try:
            os.kill(self._process, signal.SIGINT)
            while self._line.hear(channel.KINDS, wait)[0] not in channel.ENDS:
                if time.monotonic() > until:
                    raise ChannelEndError
        except (ChannelEndError, OSError):
            self.close()
        except BaseException:  # Ctrl-C once more
            self.close()
            raise

    def end(self) -> None:
        """Between two questions: it keeps for the next time what it has found out of files. Returns
        when it has gone.
        """
        if self._process:
            self._line.hang_up()
            if _signal_of(self._process, _ENDING) is not None:
                self._forget()
            self.close()

    def close(self) -> None:
        """Returns when it has gone, at once."""
        if self._process:
            try:
                os.kill(self._process, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._forget()

    def _forget(self) -> str:
        """Waits for its end; returns its last word."""
        process, self._process = self._process, 0
        self._line.close()
        try:
            os.waitpid(process, 0)
        except ChildProcessError:
            pass  # has been waited for
        said = _last_word(self._errors)
        os.close(self._errors)
        return said

    def _ended(self) -> HelperEndError:
        """What to say of it."""
        number = _signal_of(self._process)
        if number is None:  # it says what it cannot mean
            os.kill(self._process, signal.SIGKILL)
        said = self._forget()
        if said:
            return HelperEndError(said)
        ended = how_it_ended(number or 0, self._terms.seconds)
        return HelperEndError(
            f"the process that reads files for whocall {ended}; gdb is as before,"
            " and the next command starts another one"
        )


def _signal_of(process: int, patience: float = _PATIENCE) -> int | None:
    """What a process was ended by that is about to end; 0 where that was no signal, or gdb itself,
    which waits for any child, has taken its status; None where it goes on.
    """
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            done, status = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            return 0
        if done:
            return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        time.sleep(_PATIENCE / 300)
    return None


def _wait(descriptor: int) -> None:
    while not has_something(descriptor, _LOOK_UP):
        pass


def _last_word(descriptor: int) -> str:
    """The sentence of the sandbox, if that has ended it."""
    try:
        said = os.read(descriptor, _SENTENCE).decode("utf-8", "replace")
    except OSError:  # nothing
        return ""
    lines = [line for line in said.splitlines() if line.startswith(_LAST_WORD)]
    return lines[-1][len(_LAST_WORD) :] if lines else ""


def _make_room(descriptor: int) -> None:
    import fcntl

    try:
        fcntl.fcntl(descriptor, getattr(fcntl, "F_SETPIPE_SZ", 1031), _ROOM)
    except OSError:
        pass  # the user has many pipes


def _compile_meanwhile() -> None:
    """In a process of its own, for which nobody waits."""

    def compiling() -> None:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        keep_only([], nowhere)
        compile_package()

    def starting() -> None:
        fork_aside(compiling)

    os.waitpid(fork_aside(starting), 0)

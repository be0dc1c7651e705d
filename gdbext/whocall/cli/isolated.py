"""Work on a file in a process of its own, so that what ends it ends nothing else."""

from __future__ import annotations

import json
import os
import select
from typing import TYPE_CHECKING, Any

from whocall.base import limits
from whocall.base.errors import Error
from whocall.base.forked import fork_aside, how_it_ended, outcome
from whocall.base.long_work import tell_long_work
from whocall.cli.outside_sandbox import present, set_present

if TYPE_CHECKING:
    from collections.abc import Callable

    from whocall.cli.outside_sandbox import Beside, Json, LookUp

_PIECE = 1 << 20
_LOOK_UP = 0.25  # seconds
_RELAYED = {"gdb"}  # what a process that reads may ask for


def done_apart(what: str, work: Callable[[], Any]) -> Any:
    """What `work` returns, which JSON can hold; `what` is what it works on. Raises Error.

    It may be called where there are other threads: the process has this one alone. What `work` has
    use for and must not do itself, the process beside this one does, as for this one.
    """
    answers, questions = os.pipe(), os.pipe()
    parent = os.getpid()
    beside = present()

    def working() -> None:
        os.close(answers[0])
        os.close(questions[1])
        if beside is not None:
            set_present(_Relay(questions[0], answers[1]))
        _write(answers[1], _told(parent, work))

    try:
        try:
            process = fork_aside(working)
        finally:
            os.close(answers[1])
            os.close(questions[0])
        said = _heard(answers[0], questions[1], beside, process)
    finally:
        os.close(answers[0])
        os.close(questions[1])
    status = os.waitpid(process, 0)[1]
    try:
        answer = json.loads(said)
    except ValueError:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        ended = how_it_ended(number, limits.PROCESSOR_TIME)
        raise Error(f"{what}: the process that read it {ended}") from None
    if "refused" in answer:
        raise Error(answer["refused"])
    return answer["done"]


class _Relay:
    """In the process apart: asks the one that it came from, which asks the one beside."""

    def __init__(self, to_hear: int, to_say: int) -> None:
        self._to_hear, self._to_say = to_hear, to_say

    def ask(self, service: str, request: Json, look_up: LookUp = lambda: None) -> Json:
        """As Attendant.ask."""
        _write(self._to_say, {"ask": service, "request": request})
        said = b""
        while not said.endswith(b"\n"):
            while not select.select([self._to_hear], [], [], _LOOK_UP)[0]:
                look_up()
            piece = os.read(self._to_hear, _PIECE)
            if not piece:
                raise Error("a process of whocall's has ended before its time")
            said += piece
        answer: Json = json.loads(said)
        if "refused" in answer:
            raise Error(answer["refused"])
        if "errno" in answer:
            raise OSError(answer["errno"], answer["said"])
        return answer


def _heard(answers: int, questions: int, beside: Beside | None, process: int) -> bytes:
    """The last thing that the process says; what it asks is answered."""
    said = bytearray()
    while True:
        piece = os.read(answers, _PIECE)
        said += piece
        if not piece:
            return bytes(said)
        if piece.endswith(b"\n") and said.startswith(b'{"ask"'):
            try:
                _write(questions, _relayed(json.loads(bytes(said)), beside, process))
            except (OSError, ValueError):  # it has ended, or says what it cannot mean
                return b""
            said.clear()


def _relayed(asked: Json, beside: Beside | None, process: int) -> Json:
    if beside is None or asked["ask"] not in _RELAYED:
        return {"refused": "this command has no use for that"}
    try:
        return beside.ask(asked["ask"], {**asked["request"], "holder": process})
    except Error as error:
        return {"refused": str(error)}
    except OSError as error:
        return {"errno": error.errno, "said": error.strerror}


def _told(parent: int, work: Callable[[], Any]) -> dict[str, Any]:
    from whocall.base.native_module import native

    if not native.end_with_parent(parent):
        return {"refused": "nobody is there any more"}
    tell_long_work(None)
    limits.limit_memory(limits.memory_now() + limits.memory_for(2))
    limits.limit_stack()
    limits.limit_time()
    return outcome(lambda: {"done": work()})


def _write(descriptor: int, what: Json) -> None:
    rest = memoryview(json.dumps(what).encode() + b"\n")
    while rest:
        rest = rest[os.write(descriptor, rest) :]

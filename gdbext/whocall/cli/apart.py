"""Work on a file in a process of its own, so that what ends it ends nothing else."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from whocall.core import limits
from whocall.core.aside import fork_aside, how_it_ended
from whocall.core.errors import Error, MemoryShortError
from whocall.core.long_work import tell_long_work

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 1 << 20


def done_apart(what: str, work: Callable[[], Any]) -> Any:
    """What `work` returns, which JSON can hold; `what` is what it works on. Raises Error.

    It may be called where there are other threads: the process has this one alone.
    """
    to_read, to_write = os.pipe()
    parent = os.getpid()

    def working() -> None:
        os.close(to_read)
        _write(to_write, json.dumps(_told(parent, work)).encode())

    try:
        process = fork_aside(working)
    finally:
        os.close(to_write)
    said = _read(to_read)
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


def _told(parent: int, work: Callable[[], Any]) -> dict[str, Any]:
    from whocall.core.engine import native

    if not native.end_with_parent(parent):
        return {"refused": "nobody is there any more"}
    tell_long_work(None)
    limits.limit_memory(limits.memory_now() + limits.memory_for(2))
    limits.limit_stack()
    limits.limit_time()
    try:
        return {"done": work()}
    except Error as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": str(MemoryShortError())}
    except OSError as error:
        return {"refused": error.strerror or str(error)}
    except Exception as error:  # a fault of ours is told as well
        return {"refused": f"whocall failed: {type(error).__name__}: {error}"}


def _write(descriptor: int, contents: bytes) -> None:
    rest = memoryview(contents)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int) -> bytes:
    """All of it."""
    pieces = []
    try:
        while piece := os.read(descriptor, _PIECE):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces)

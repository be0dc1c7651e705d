"""A process of ours beside this one: a copy, no other program."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

from whocall.base.errors import Error, MemoryShortError


def fork_aside(work: Callable[[], None]) -> int:
    """One that does `work` and ends. Returns its number.

    Other threads of this process, such as gdb's own, hold nothing that the work takes: Python warns
    of that from 3.12 on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)  # nothing of ours is done twice: no flush, no farewell
    return child


def outcome(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What it returns, or in its place why there is nothing, as {"refused": sentence}."""
    try:
        return work()
    except Error as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": str(MemoryShortError())}
    except OSError as error:
        return {"refused": error.strerror or str(error)}
    except Exception as error:  # a fault of ours is told as well
        return {"refused": f"whocall failed: {type(error).__name__}: {error}"}


def how_it_ended(number: int, seconds: int) -> str:
    """What to say of a process that read files and was ended by the signal `number`, or by none
    (0); its limit of processor time is `seconds`.
    """
    if number == signal.SIGXCPU:
        return f"took more than {seconds} s of processor time"
    if number == signal.SIGKILL:
        return "was killed, as the kernel does when memory runs out"
    if number == 0:
        return "has ended before its time"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return (
        f"was ended by {name}: one of the files is damaged in a way that it does not stand, or was"
        " made to do that"
    )

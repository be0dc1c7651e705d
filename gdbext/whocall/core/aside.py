"""A process of ours beside this one: a copy, no other program."""

from __future__ import annotations

import os
from collections.abc import Callable


def fork_aside(work: Callable[[], None]) -> int:
    """One that does `work` and ends. Returns its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)  # nothing of ours is done twice: no flush, no farewell
    return child

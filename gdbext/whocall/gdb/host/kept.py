"""What a command changes of gdb for a while, and what puts it back.

Ctrl-C is raised between any two steps of Python: in a `finally` too, and on the way to it, where it
would leave gdb's setting or selection as the command needed it. So what is to be put back is noted
before anything is changed, and is done by whoever comes first: the end of the block, the end of the
command, or the next prompt. Putting back what stands as it was changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import gdb

_owed: list[Callable[[], object]] = []


@contextmanager
def kept(put_back: Callable[[], object]) -> Iterator[None]:
    """What is changed within is put back by this, whatever happens."""
    outer = len(_owed)
    if not outer:
        gdb.events.before_prompt.connect(_settle_before_prompt)
    _owed.append(put_back)
    try:
        yield
    finally:
        settle(outer)


def owed() -> int:
    """How much is to be put back now: what a command finds is its caller's."""
    return len(_owed)


def settle(down_to: int = 0) -> None:
    """Puts back all but so much, the last change first. An interrupt may come here too: then it is
    done again. What gdb refuses by now, as of a thread that is gone, is left.
    """
    while len(_owed) > down_to:
        with suppress(gdb.error, RuntimeError):
            _owed[-1]()
        _owed.pop()
        if not _owed:  # at a prompt no Python runs, where Ctrl-C would be told as an exception
            gdb.events.before_prompt.disconnect(_settle_before_prompt)


def _settle_before_prompt(event: Any = None) -> None:
    with suppress(KeyboardInterrupt):  # then before the next one
        if _owed:
            settle()
        else:  # an interrupt came when this was to be connected, or no more
            gdb.events.before_prompt.disconnect(_settle_before_prompt)

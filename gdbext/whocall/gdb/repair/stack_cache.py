"""A cache of the stacks that were found right.

A step inside a function changes nothing of the frames above it: where gdb still comes to the same
callers, there is nothing to repair anew.
"""

from __future__ import annotations

from collections.abc import Iterable

import gdb

from whocall.gdb.target.frames import past_main, selection_kept

MOST_FRAMES = 64  # of deeper stacks so many are looked at

# Of each thread the function that it is in, and the pcs of the frames above.
_Look = tuple[str, tuple[int, ...]]
_right: dict[tuple[int, int, int], _Look] = {}


def _look(thread: gdb.InferiorThread) -> _Look | None:
    """How gdb shows the stack of a thread; None where it knows too little to tell it again."""
    thread.switch()
    try:
        frame = gdb.newest_frame()
        name = frame.name()
        pcs: list[int] = []
        older = frame.older()
        while older is not None and len(pcs) < MOST_FRAMES:
            pcs.append(older.pc())
            older = older.older()
    except gdb.error:
        return None
    return None if name is None else (name, tuple(pcs))


def _looks(threads: Iterable[gdb.InferiorThread]) -> dict[tuple[int, int, int], _Look | None]:
    with selection_kept(), past_main():
        return {thread.ptid: _look(thread) for thread in threads}


def remember(threads: Iterable[gdb.InferiorThread]) -> None:
    """These stacks are right."""
    _right.clear()
    _right.update({at: look for at, look in _looks(threads).items() if look is not None})


def forget() -> None:
    """No stack is known to be right."""
    _right.clear()


def are_right(threads: Iterable[gdb.InferiorThread]) -> bool:
    """Whether all of these stacks look as they did when they were right."""
    if not _right:
        return False
    return all(look is not None and _right.get(at) == look for at, look in _looks(threads).items())

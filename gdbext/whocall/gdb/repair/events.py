"""Repairs gdb's stacks anew at each stop, and forgets the overrides of the stacks before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gdb

from whocall.base.errors import Error
from whocall.gdb.repair import frame_overrides, stack_cache

MOST_THREADS = 32  # whose stacks are repaired at every stop; of more, only the selected one's

_watching = False
_stale = False  # registers or memory have changed since the stacks were looked at


def note_change() -> None:
    """The stacks are to be looked at again before the next prompt."""
    global _stale
    _stale = True


def refresh(event: Any = None) -> None:
    """Repairs the stacks anew if anything has changed. Never raises: gdb calls it by itself."""
    try:
        _refresh()
    except (Error, gdb.error, UnicodeDecodeError, KeyboardInterrupt):
        return  # "whocall repair" tells why; an interrupt leaves gdb its own frames


def _refresh() -> None:
    global _stale
    if frame_overrides.told:
        _stale = True
        frame_overrides.clear()
    if not _stale:
        return
    _stale = False
    thread = gdb.selected_thread()
    if thread is None or not thread.is_valid() or thread.is_running():
        return
    from whocall.gdb.repair.planning import RepairRequest
    from whocall.gdb.repair.reconcile import repair
    from whocall.gdb.target.inferior import forget

    forget()
    everyone = gdb.selected_inferior().threads()
    threads = list(everyone) if len(everyone) <= MOST_THREADS else [thread]
    if stack_cache.are_right(threads):
        return
    stack_cache.forget()
    _, outcomes, _ = repair(RepairRequest(every_thread=len(everyone) <= MOST_THREADS))
    if all(outcome.parts_at is None for outcome in outcomes) and not frame_overrides.count():
        stack_cache.remember(threads)


def _changed(event: Any) -> None:
    """Memory or registers were written: editors and scripts get no prompt that would come next."""
    gdb.post_event(refresh)


_CHANGES = ("cont", "exited", "stop", "memory_changed", "register_changed", "inferior_call")
_EVENTS: list[tuple[str, Callable[..., None]]] = [
    *((name, frame_overrides.told.append) for name in _CHANGES),
    ("stop", refresh),
    ("before_prompt", refresh),
    *((name, _changed) for name in ("memory_changed", "register_changed", "inferior_call")),
]


def watch() -> None:
    """From now on."""
    global _watching
    if _watching:
        return
    _watching = True
    for name, handler in _EVENTS:
        getattr(gdb.events, name).connect(handler)


def unwatch() -> bool:
    """No more, and nothing is led by hand. Returns whether it was on."""
    global _watching
    frame_overrides.clear()
    stack_cache.forget()
    if not _watching:
        return False
    _watching = False
    for name, handler in _EVENTS:
        getattr(gdb.events, name).disconnect(handler)
    return True

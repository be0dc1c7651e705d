"""Repairs gdb's stacks anew at each stop, and forgets the overrides of the stacks before."""

from __future__ import annotations

from typing import Any

import gdb

from whocall.core.errors import Error
from whocall.gdb.repair import frame_overrides, stack_cache

MOST_THREADS = 32  # whose stacks are repaired at every stop; of more, only the selected one's

_watching = False
_stale = False  # registers or memory have changed since the stacks were looked at


def _forget(event: Any) -> None:
    global _stale
    _stale = True
    frame_overrides.clear()


def note_change() -> None:
    """The stacks are to be looked at again before the next prompt."""
    global _stale
    _stale = True


def refresh() -> None:
    """Repairs the stacks anew if anything has changed. Never raises: gdb calls it by itself."""
    global _stale
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
    try:
        if stack_cache.are_right(threads):
            return
        stack_cache.forget()
        _, outcomes = repair(RepairRequest(every_thread=len(everyone) <= MOST_THREADS))
    except (Error, gdb.error, UnicodeDecodeError, KeyboardInterrupt):
        return  # "whocall repair" tells why; an interrupt leaves gdb its own frames
    if all(outcome.parts_at is None for outcome in outcomes) and not frame_overrides.count():
        stack_cache.remember(threads)


def _changed(event: Any) -> None:
    """Memory or registers were written: editors and scripts get no prompt that would come next."""
    _forget(event)
    gdb.post_event(refresh)


def _stopped(event: Any) -> None:
    note_change()
    refresh()


_EVENTS = {
    "cont": _forget,
    "memory_changed": _changed,
    "register_changed": _changed,
    "inferior_call": _changed,
    "exited": _forget,
    "stop": _stopped,
    "before_prompt": refresh,
}


def watch() -> None:
    """From now on."""
    global _watching
    if _watching:
        return
    _watching = True
    for name, handler in _EVENTS.items():
        getattr(gdb.events, name).connect(handler)


def unwatch() -> bool:
    """No more, and nothing is led by hand. Returns whether it was on."""
    global _watching
    frame_overrides.clear()
    stack_cache.forget()
    if not _watching:
        return False
    _watching = False
    for name, handler in _EVENTS.items():
        getattr(gdb.events, name).disconnect(handler)
    return True

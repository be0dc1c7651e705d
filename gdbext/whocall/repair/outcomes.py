"""What `whocall repair` has done, and what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from whocall.base.counted import counted


@dataclass
class ModuleOutcome:
    """What a debugger knows of a module now."""

    path: str
    named: int
    unnamed: int
    ruled: int  # functions whose rules it was given
    refused: str = ""  # why it could be told nothing


@dataclass(frozen=True)
class Agreement:
    """How a debugger's stack of a thread is beside the true chain."""

    true: int  # frames of the chain that it has, in their order
    false: int  # other frames that it has


@dataclass
class ThreadOutcome:
    """How a debugger's stack of a thread was and is."""

    number: int
    frames: int  # of the true chain; of a very long one those that were looked at
    before: Agreement | None  # None: a debugger took too long to tell
    after: Agreement
    overridden: int  # frames that it was told of one by one
    parts_at: int | None  # level of the first frame that it still has wrong
    more: int = 0  # frames of the true chain behind those
    unruled: int = 0  # of these: no rule leads to them, and it was not told of them


def module_line(module: ModuleOutcome) -> str | None:
    """What a debugger has of a module; None when nothing."""
    parts = []
    if module.named:
        parts.append(counted(module.named, "name"))
    if module.unnamed:
        parts.append(f"{counted(module.unnamed, 'function')} without a name")
    if module.ruled:
        parts.append(f"unwinding rules of {counted(module.ruled, 'function')}")
    return f"{PurePosixPath(module.path).name}: {', '.join(parts)}" if parts else None


def _held(agreement: Agreement, thread: ThreadOutcome) -> str:
    frames = counted(thread.frames, "frame")
    if thread.more:
        frames = f"the innermost {frames}"
    text = f"all {frames}" if agreement.true == thread.frames else f"{agreement.true} of {frames}"
    return f"{text} and {agreement.false} false" if agreement.false else text


def is_notable(thread: ThreadOutcome) -> bool:
    """Whether something changed, or not all of the stack was looked at."""
    return thread.before != thread.after or thread.more > 0


def _sentence(thread: ThreadOutcome) -> str:
    """How a debugger's stack of a thread has become better, behind the thread's number."""
    now = _held(thread.after, thread)
    was = now if thread.before is None else _held(thread.before, thread)
    by_hand = ""
    if thread.overridden:  # by their places on the stack, as gdb has no rules for what they run
        by_hand = f", {counted(thread.overridden, 'frame')} one by one"
    change = f"had {was}; now it has {now}" if was != now else f"has {now}"
    return f"gdb {change}{by_hand}.{_rest(thread)}"


def _numbers(threads: Sequence[ThreadOutcome]) -> str:
    """`Thread 3`, `Threads 2-5, 9`."""
    runs: list[list[int]] = []
    for number in sorted(thread.number for thread in threads):
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    told = ", ".join("-".join(map(str, run)) for run in runs)
    return f"Threads {told}" if len(threads) > 1 else f"Thread {told}"


def thread_lines(threads: Sequence[ThreadOutcome]) -> list[str]:
    """How a debugger's stacks have become better; of those that did alike one line tells."""
    groups: dict[str, list[ThreadOutcome]] = {}
    for thread in threads:
        groups.setdefault(_sentence(thread), []).append(thread)
    return [f"{_numbers(group)}: {sentence}" for sentence, group in groups.items()]


def _rest(thread: ThreadOutcome) -> str:
    """What was left out of a very long chain."""
    if not thread.more:
        return ""
    text = f" The {counted(thread.more, 'frame')} further out were not looked at"
    return f"{text}{f', and no rule leads to {thread.unruled:,} of them' * bool(thread.unruled)}."


def threads_line(changed: int, threads: int) -> list[str]:
    """On the threads of which nothing else is said."""
    rest = threads - changed
    if not rest:
        return []
    those = counted(rest, "other thread" if changed else "thread")
    return [f"{those}: gdb found the same frames before."]

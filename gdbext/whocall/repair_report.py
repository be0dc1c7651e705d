"""What `whocall repair` has done, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass
class ModuleOutcome:
    """What a debugger knows of a module now."""

    path: str
    named: int
    unnamed: int
    ruled: int  # functions whose rules it was given


@dataclass(frozen=True)
class Agreement:
    """How a debugger's stack of a thread is beside the true chain."""

    true: int  # frames of the chain that it has, in their order
    false: int  # other frames that it has


@dataclass
class ThreadOutcome:
    """How a debugger's stack of a thread was and is."""

    number: int
    frames: int  # of the true chain
    before: Agreement
    after: Agreement
    pinned: int  # frames that it was told of one by one
    parts_at: int | None  # level of the first frame that it still has wrong


def counted(count: int, what: str) -> str:
    """ "1 name", "2,000 names"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def module_line(module: ModuleOutcome) -> str | None:
    """What a debugger was told of a module; None when nothing."""
    told = []
    if module.named:
        told.append(counted(module.named, "name"))
    if module.unnamed:
        told.append(f"{counted(module.unnamed, 'function')} without a name")
    if module.ruled:
        told.append(f"unwinding rules of {counted(module.ruled, 'function')}")
    return f"{PurePosixPath(module.path).name}: {', '.join(told)}" if told else None


def _held(agreement: Agreement, frames: int) -> str:
    text = f"all {frames}" if agreement.true == frames else f"{agreement.true} of {frames}"
    text += f" frame{'s' * (frames != 1)}"
    return f"{text} and {agreement.false} false" if agreement.false else text


def thread_line(thread: ThreadOutcome) -> str:
    """How a debugger's stack of a thread has become better."""
    was, now = (_held(each, thread.frames) for each in (thread.before, thread.after))
    by_hand = f" ({thread.pinned} led by hand)" if thread.pinned else ""
    return f"Thread {thread.number}: gdb had {was}; now it has {now}{by_hand}."


def threads_line(changed: int, threads: int) -> list[str]:
    """On the threads of which nothing else is said."""
    rest = threads - changed
    if not rest:
        return []
    return [f"{counted(rest, 'other thread' if changed else 'thread')}: nothing had to change."]

"""`whocall repair` in gdb."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from whocall.gdb import repair_events
from whocall.gdb.inferior import current
from whocall.gdb.output import warn, write
from whocall.gdb.repairing import Agreement, ModuleOutcome, ThreadOutcome, repair
from whocall.options import REPAIR


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _module_line(outcome: ModuleOutcome) -> str | None:
    told = []
    if outcome.named:
        told.append(_counted(outcome.named, "name"))
    if outcome.unnamed:
        told.append(f"{_counted(outcome.unnamed, 'function')} without a name")
    if outcome.ruled:
        told.append(f"unwinding rules of {_counted(outcome.ruled, 'function')}")
    return f"{PurePosixPath(outcome.path).name}: {', '.join(told)}" if told else None


def _held(agreement: Agreement, frames: int) -> str:
    share = f"all {frames}" if agreement.true == frames else f"{agreement.true} of {frames}"
    text = f"{share} frame{'s' * (frames != 1)}"
    return f"{text} and {agreement.false} false" if agreement.false else text


def _thread_line(outcome: ThreadOutcome) -> str:
    was, now = (_held(each, outcome.frames) for each in (outcome.before, outcome.after))
    by_hand = f" ({outcome.pinned} led by hand)" if outcome.pinned else ""
    return f"Thread {outcome.number}: gdb had {was}; now it has {now}{by_hand}."


def lines(modules: Sequence[ModuleOutcome], threads: Sequence[ThreadOutcome]) -> list[str]:
    """What was done, and how gdb's stacks are now."""
    shown = [line for line in map(_module_line, modules) if line is not None]
    changed = [outcome for outcome in threads if outcome.before != outcome.after]
    shown += [_thread_line(outcome) for outcome in changed]
    rest = len(threads) - len(changed)
    if rest:
        others = _counted(rest, "other thread" if changed else "thread")
        shown.append(f"{others}: the frames are as they were.")
    return shown


def run(line: str) -> None:
    """Repairs the stacks of all threads, and goes on doing so whenever the program stops."""
    parsed = REPAIR.parse(line)
    now = current(every_thread=True)
    modules, threads = repair(now, now.every_thread(), parsed.has("all"))
    repair_events.watch()
    warn(
        f"gdb's stack of thread {outcome.number} still differs from frame #{outcome.parts_at} on."
        for outcome in threads
        if outcome.parts_at is not None
    )
    write(lines(modules, threads))

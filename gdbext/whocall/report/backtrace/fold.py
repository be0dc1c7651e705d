"""Threads with identical stacks folded into one group."""

from __future__ import annotations

from collections.abc import Sequence

from whocall.core.model import Backtrace, column, rows
from whocall.core.records import dataclass


@dataclass(frozen=True)
class Group:
    """Threads with one stack, in the order in which they came."""

    traces: tuple[Backtrace, ...]


def stack_key(trace: Backtrace) -> object:
    """Equal for stacks that print the same lines: the CFAs of two threads always differ."""
    frames = tuple(
        rows(trace.frames, "pc", "function", "inlined", "signal_trampoline", "trust", "line",
             "rests_on")
    )  # fmt: skip
    by_search = (at for at, trust in enumerate(column(trace.frames, "trust")) if trust == "scan")
    searched = tuple(map(trace.searched, by_search))
    return frames, searched, trace.stop.reason


def fold(traces: Sequence[Backtrace], exact: bool = False) -> list[Group]:
    """Groups in the order of their first threads; `exact` leaves each thread alone.

    The thread that crashed is never folded away: its title carries the signal.
    """
    groups: dict[object, list[Backtrace]] = {}
    for trace in traces:
        alone = exact or trace.crashed
        key = ("thread", trace.number) if alone else stack_key(trace)
        groups.setdefault(key, []).append(trace)
    return [Group(tuple(members)) for members in groups.values()]


def numbers(values: Sequence[int]) -> str:
    """`2..4, 7`: rising runs of three and more shortened."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}..{run[-1]}"] if len(run) > 2 else [str(value) for value in run]
    return ", ".join(parts)

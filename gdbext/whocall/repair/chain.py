"""The chain of a thread as a debugger is told of it: where its frames stand, and where each leads.

Of a stack that overflowed a debugger cannot be led through a quarter of a million frames, nor would
anybody look at them: then the chain has the innermost frames and the outermost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from whocall.base.model import Backtrace, Frame, column, rows

INNERMOST = 4096  # frames that are told and looked at
OUTERMOST = 1024
# Frames found in these ways follow from no rule of the function below them.
BEYOND_RULES = ("frame-pointer", "scan")


class RegisterNames(NamedTuple):
    """What the debugger calls the registers that every frame has."""

    pc: str
    sp: str


@dataclass(frozen=True)
class Step:
    """One frame of a chain, and where it leads."""

    pc: int
    lookup: int  # an address inside the instruction that the frame stands at or calls from
    sp: int
    cfa: int  # with `start` what debuggers tell frames apart by
    start: int  # of its function; the pc itself where that is not known
    caller: Mapping[str, int] | None  # the caller's registers; None: nothing called it; {}: untold
    ruled: bool  # a debugger finds the caller by the module's tables or by the rules we give

    @property
    def leads(self) -> bool:
        """Whether it tells the caller's registers, or that there is none."""
        return self.caller is None or bool(self.caller)


@dataclass(frozen=True)
class Chain:
    """The frames of one thread, innermost first, without inlined ones.

    `steps` are all frames, or the innermost of a chain that has more.
    """

    lwp: int
    steps: Sequence[Step]
    end: int | None = None  # `lookup` of the last frame where the walk knows no caller
    more: int = 0  # frames behind `steps`
    last: Sequence[Step] = ()  # the outermost of those
    between: Collection[int] = ()  # where those between stand: their different `lookup`s
    unruled: int = 0  # of those between: no rule leads to them
    is_whole: bool = True  # nothing called the last frame; else it is the last that was found

    @property
    def lookups(self) -> set[int]:
        """Where all frames stand."""
        return {step.lookup for part in (self.steps, self.last) for step in part} | {*self.between}


def _lookup(pc: int, interrupted: bool) -> int:
    return pc if interrupted else pc - 1


def _step(frame: Frame, older: Frame | None) -> Step:
    return Step(
        pc=frame.pc,
        lookup=_lookup(frame.pc, frame.interrupted),
        sp=frame.sp,
        cfa=frame.cfa or frame.sp,
        start=frame.pc if frame.offset is None else frame.pc - frame.offset,
        caller=None if older is None else older.registers,
        ruled=older is None or older.trust not in BEYOND_RULES,
    )


def chain_of(trace: Backtrace) -> Chain:
    """The chain of a walk past main that kept the registers."""
    real = [at for at, inlined in enumerate(column(trace.frames, "inlined")) if not inlined]

    def steps(begin: int, end: int) -> list[Step]:
        frames = [trace.frames[at] for at in real[begin : end + 1]]
        return [_step(*pair) for pair in zip(frames, [*frames[1:], None])][: end - begin]

    inner = len(real) if len(real) <= INNERMOST + OUTERMOST else INNERMOST
    outer = max(inner, len(real) - OUTERMOST)
    values = rows(trace.frames, "inlined", "pc", "interrupted", "trust")
    between = islice((of for inlined, *of in values if not inlined), inner, outer)
    places = Counter(
        (_lookup(pc, stopped), trust in BEYOND_RULES) for pc, stopped, trust in between
    )
    chain = Chain(
        lwp=trace.lwp,
        steps=steps(0, inner),
        more=len(real) - inner,
        last=tuple(steps(outer, len(real))),
        between={lookup for lookup, _ in places},
        unruled=sum(count for (_, unruled), count in places.items() if unruled),
        is_whole=trace.stop.reason in ("end-of-stack", "main", "count"),
    )
    is_end = bool(real) and trace.stop.reason in ("end-of-stack", "no-caller")
    last = (*chain.steps, *chain.last)[-1:]
    return replace(chain, end=last[0].lookup) if is_end else chain

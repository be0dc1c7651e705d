"""What whocall found, as plain data: frames, the backtrace of a thread, the report on a process.

Everything that is printed, written as JSON or compared is made from these, never from the native
objects, so that tests can state whole backtraces literally.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter

from whocall.core.printable import printable
from whocall.core.records import dataclass, replace, slotted

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

TRUST = ("context", "cfi", "analysis", "frame-pointer", "scan")  # best first
INFERRED_MARK = "?"

STOP_REASONS = (
    "end-of-stack",
    "no-caller",
    "unreadable",
    "frame-limit",
    "main",  # the rest is the C library's start-up code, left out as gdb does
    "count",  # the user asked for so many frames
)


def marked(name: str, inferred: bool) -> str:
    """The name with the mark of inferred names behind it."""
    return name + INFERRED_MARK if inferred else name


@slotted
@dataclass(frozen=True)
class Frame:
    """One line of a backtrace. Addresses are runtime addresses but for `rva`, the link address.

    An inlined frame shares pc and cfa with the frame that holds it.
    """

    level: int
    pc: int
    trust: str
    cfa: int | None = None
    function: str | None = None
    offset: int | None = None  # bytes from the function's start
    name_source: str | None = None
    inferred: bool = False  # the name was concluded from code and data: outputs mark it
    module: str | None = None
    build_id: str | None = None
    rva: int | None = None
    rests_on: int | None = None  # level of the nearest inner frame that a search found (scan)
    evidence: tuple[str, ...] = ()
    inlined: bool = False
    interrupted: bool = False  # pc is the next instruction itself, not a return address
    signal_trampoline: bool = False
    file: str | None = None
    line: int | None = None
    explanation: str | None = None
    registers: Mapping[str, int] | None = None
    saved: Mapping[int, str] | None = None  # stack words that hold registers of the caller's
    aliases: tuple[str, ...] = ()  # other names of the same code, as in the file
    sp: int = 0  # the stack pointer; 0 where it is not known

    @property
    def shown(self) -> str:
        """The function as text shows it: `??` without one, `main?` where it was inferred."""
        name = self.function
        return "??" if name is None else printable(marked(name, self.inferred))

    def __repr__(self) -> str:
        """What is known of it, as it is made, addresses as everywhere in hexadecimal."""
        told = [
            f"{name}={value:#x}" if name in _ADDRESSES else f"{name}={value!r}"
            for name, value in ((name, getattr(self, name)) for name in FIELDS)
            if name in _ALWAYS_TOLD or value != getattr(_UNKNOWN, name)
        ]
        return f"Frame({', '.join(told)})"


FIELDS = tuple(Frame.__annotations__)
_ADDRESSES = frozenset({"pc", "cfa", "rva", "sp"})
_ALWAYS_TOLD = frozenset({"level", "pc", "trust"})
_UNKNOWN = Frame(0, 0, "")


class OnDemand(Sequence[Frame]):
    """Frames that are made when they are asked for, and of which there may be very many."""

    @abstractmethod
    def rows(self, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The values of these fields, without frames around them."""


def rows(frames: Sequence[Frame], *fields: str) -> Iterator[tuple[Any, ...]]:
    """A tuple for each frame with the values of two or more `fields`."""
    return frames.rows(fields) if isinstance(frames, OnDemand) else map(attrgetter(*fields), frames)


def column(frames: Sequence[Frame], field: str) -> Iterator[Any]:
    """The values of one field of each frame."""
    if isinstance(frames, OnDemand):
        return (value for (value,) in frames.rows((field,)))
    return map(attrgetter(field), frames)


@dataclass(frozen=True)
class Stop:
    """Why a walk went no further: one of STOP_REASONS, and a detail that may be empty."""

    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Backtrace:
    """The call chain of one thread, innermost frame first."""

    number: int
    lwp: int
    frames: Sequence[Frame]
    stop: Stop
    name: str = ""
    crashed: bool = False
    signal: str | None = None  # "SIGSEGV"
    sp: int = 0  # of the innermost frame

    def rows(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The values of `fields` of each frame, or of all FIELDS, as tuples: where there are very
        many frames this takes a third of the time that objects take.
        """
        if len(fields) == 1:
            return ((value,) for value in column(self.frames, fields[0]))
        return rows(self.frames, *(fields or FIELDS))

    def searched(self, index: int) -> int | None:
        """How many bytes of stack were searched for frames[index]; None when it was not so found.

        They begin at the stack pointer of the frame below and end at its CFA.
        """
        if index == 0 or self.frames[index].trust != "scan" or self.frames[index - 1].inlined:
            return None
        below = index - 2
        while below >= 0 and self.frames[below].inlined:
            below -= 1
        begin = self.sp if below < 0 else self.frames[below].cfa
        end = self.frames[index - 1].cfa
        return None if begin is None or end is None or end < begin else end - begin

    def cut_at_main(self, executables: Collection[str]) -> Backtrace:
        """Without the frames that called `main` of one of the modules `executables`."""
        places = rows(self.frames, "function", "inlined", "module")
        for index, (function, inlined, module) in enumerate(places):
            if function == "main" and not inlined and module in executables:
                if index + 1 == len(self.frames):
                    return self
                return replace(
                    self, frames=self.frames[: index + 1], stop=Stop("main", "main of the program")
                )
        return self

    def take(self, count: int | None) -> Backtrace:
        """The innermost `count` frames, or the outermost -`count`; all of them for None."""
        if count is None or abs(count) >= len(self.frames):
            return self
        if count < 0:
            return replace(self, frames=self.frames[count:])
        return replace(self, frames=self.frames[:count], stop=Stop("count"))


class WrittenThreads(Sequence[Backtrace]):
    """Backtraces that are made when they are asked for, and that native code writes."""

    @abstractmethod
    def json(self, margin: int) -> Iterator[str]:
        """The items of a JSON list, which stand behind `margin` spaces, in large pieces."""

    @abstractmethod
    def text(
        self, titles: bool, fold: bool, inferior: str, style: Mapping[str, str]
    ) -> Iterator[str]:
        """Their lines, many together. `style` are SGR parameters."""


@dataclass(frozen=True)
class Report:
    """Backtraces of some or all threads of a process, and where the process came from."""

    arch: str
    threads: Sequence[Backtrace]
    core: str | None = None
    exe: str | None = None
    warnings: Sequence[str] = ()
    pointer_size: int = 8  # bytes
    origin: Mapping[str, str] | None = None  # what the reporter of the crash noted, in its words

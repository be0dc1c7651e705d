"""What whocall found, as plain data: frames, the backtrace of a thread, the report on a process.

Everything that is printed, written as JSON or compared is made from these, never from the native
objects, so that tests can state whole backtraces literally.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from whocall.base.printable import printable
from whocall.base.records import dataclass, slotted

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Optional

    SourceHint = tuple[str, int, Optional[int], int, Optional[str], Optional[str], bool]
    """A place in the source that a function's code names: file, line, column, link address of the
    instruction, crate and module (of Rust), and whether it may be told of the frame itself."""

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
    source_hints: tuple[SourceHint, ...] = ()  # that the function's code names, without a line
    explanation: str | None = None
    registers: Mapping[str, int] | None = None
    saved: Mapping[int, str] | None = None  # stack words that hold registers of the caller's
    aliases: tuple[str, ...] = ()  # other names of the same code, as in the file
    sp: int = 0  # the stack pointer; 0 where it is not known
    searched: int | None = None  # bytes of stack below it, where a search over them found it

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

    @abstractmethod
    def gaps(self) -> Sequence[tuple[int, int, int]]:
        """Begin, end and period of what text leaves out of an endless recursion."""

    @abstractmethod
    def text(self, threads: Sequence[Backtrace], form: TextForm) -> str:
        """Of backtraces of the process that these frames are of."""


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

    def __repr__(self) -> str:
        """As it is made, the address in hexadecimal."""
        told = (f"{name}={getattr(self, name)!r}" for name in Backtrace.__annotations__)
        return f"Backtrace({', '.join([*told][:-1])}, sp={self.sp:#x})"

    def rows(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The values of `fields` of each frame, or of all FIELDS, as tuples: where there are very
        many frames this takes a third of the time that objects take.
        """
        if len(fields) == 1:
            return ((value,) for value in column(self.frames, fields[0]))
        return rows(self.frames, *(fields or FIELDS))

    def _repr_html_(self) -> str | None:
        return _html_of([self])


# As gdb's `set filename-display`: modules by base names and sources as debug info has them, both by
# base names, both by whole paths.
FILE_DISPLAYS = ("relative", "basename", "absolute")


@dataclass(frozen=True)
class TextForm:
    """What a backtrace in text shows beside its frames."""

    fold: bool = True  # runs of repeating frames are told in a line
    full: bool = False  # registers, CFA and stack words of each frame
    explain: bool = False  # how each frame was found, and why the chain ends
    addresses: bool = True  # where each frame is
    places: bool = True  # in which source file and line, or in which module
    every_thread: bool = False  # each under a title, equal stacks together
    inferior: str = ""  # stands before numbers of threads, such as "2." where gdb has several
    last_words: str = ""  # why the crashed thread ended, where its runtime said so
    files: str = "relative"  # one of FILE_DISPLAYS
    arguments: str = ""  # "values", "presence" (whether there are some), "none" (dots); or no word
    characters: int = 200  # of a text that an argument points to, at most
    columns: int = 0  # of the screen; 0: lines are whole, however long


class WrittenThreads(Sequence[Backtrace]):
    """Backtraces that are made when they are asked for, and that native code writes."""

    @abstractmethod
    def json(self, margin: int, arguments: bool, last_words: str = "") -> Iterator[str]:
        """The items of a JSON list, which stand behind `margin` spaces, in large pieces; with what
        their functions were handed and what happened, in which `last_words` are as in TextForm; or
        no word of either.
        """

    @abstractmethod
    def text(self, form: TextForm, style: Mapping[str, str]) -> Iterator[str]:
        """Their lines, many together. `style` are SGR parameters by role."""

    @abstractmethod
    def groups(self) -> Sequence[Sequence[int]]:
        """Which of them are told together, as their stacks read the same."""

    @abstractmethod
    def resting(self, number: int) -> str:
        """How many frames of this one are no surer than a search on which they rest; empty for
        none.
        """


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

    def _repr_html_(self) -> str | None:
        return _html_of(self.threads)


def _html_of(threads: Sequence[Backtrace]) -> str | None:
    """What notebooks show: the text of `whocall bt`. None of frames that no process image gave,
    of which they show the representation.
    """
    import html

    frames = [trace.frames for trace in threads]
    if not frames or not all(isinstance(each, OnDemand) for each in frames):
        return None
    assert isinstance(frames[0], OnDemand)
    form = TextForm(every_thread=len(threads) > 1, arguments="values")
    return f"<pre>{html.escape(frames[0].text(threads, form))}</pre>"

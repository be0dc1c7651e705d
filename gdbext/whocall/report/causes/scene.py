"""The moment of a crash: what its causes are read from."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from whocall.base.named_tuples import NamedTuple
from whocall.base.native_backtraces import walk_of
from whocall.base.operations import operation_at
from whocall.base.signals import signal_name
from whocall.report.backtrace.words import describe_function
from whocall.report.causes.texts import number_in

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.model import Backtrace, Frame
    from whocall.base.operations import Operation
    from whocall.base.process_image import ProcessImage


_LARGEST_FRAME = 1 << 16  # bytes of a runtime's own functions
_GIVE_UP = ("SIGABRT", "SIGILL", "SIGTRAP")  # by what runtimes end: abort(), or a trap


class Fact(NamedTuple):
    """One thing that is known about a crash."""

    kind: str  # "null-call", "stack-overflow", ...
    text: str  # a sentence without its full stop, as "it called address 0"
    proof: str  # what shows it
    level: int | None = None  # of the frame that lies above a runtime's own, where that is known
    said: str = ""  # what of the text are the program's own words


class Access(NamedTuple):
    """Bytes from a runtime address on; whether they are written, None where that is not known."""

    address: int
    size: int
    written: bool | None


def named(frame: Frame) -> str:
    """`main+14`, or an address where there is no name."""
    if frame.function is None:
        return f"{frame.pc:#x}"
    name, _ = describe_function(frame)
    return f"{name}+{frame.offset}" if frame.offset and not frame.inlined else name


class Scene:
    """A thread of a process at the moment of its end. `trace` is its whole backtrace."""

    def __init__(self, image: ProcessImage, index: int, trace: Backtrace) -> None:
        self.image = image
        self.trace = trace
        self.thread = image.threads[index]
        self.signal = trace.signal or signal_name(image.arch, self.thread.signal)
        self.native = image.native.scene(walk_of(trace), self.signal or "")
        self.code: int | None = self.native.code  # si_code
        # Of frames by their level, as far as constants.code_of was asked.
        self.decoded: dict[int, list[Operation]] = {}

    @property
    def facts(self) -> list[Fact]:
        """What native code proves (`native/report/causes/causes.h`), the most telling first."""
        return [Fact(*each) for each in self.native.facts()]

    @property
    def fault(self) -> int | None:
        """The address that the fault is about, where the kernel tells it, or else the instruction
        and what is mapped.
        """
        found = self.native.fault
        return None if found is None else found[0]

    @property
    def fault_access(self) -> tuple[str, int] | None:
        """What the program did there ("read", "write", "read-write", "execute"), and of how many
        bytes, or 0; None where that is not proven.
        """
        return self.native.fault_access

    @cached_property
    def operation(self) -> Operation | None:
        """The instruction at pc; None where none is to be read."""
        return operation_at(self.image, self.pc) if self.instruction is not None else None

    @cached_property
    def accesses(self) -> list[Access]:
        """What memory it accesses, as far as the registers tell."""
        return [Access(*each) for each in self.native.accesses]

    @property
    def writes(self) -> list[bool | None]:
        """Whether it writes each of its operands in memory; None where it may do either."""
        return self.native.writes

    @property
    def operand(self) -> int | None:
        """The value of its only operand."""
        return self.native.operand

    @property
    def is_nowhere(self) -> bool:
        """Whether it is proved that no code is at pc."""
        return self.native.is_nowhere

    @property
    def used_up_stack(self) -> tuple[int, int] | None:
        """From where to where the stack reaches of which there is no more, if that is why."""
        return self.native.used_up_stack

    @property
    def may_be_used_up(self) -> bool:
        """Whether the access that faulted may be the stack's growth, of which too little is
        known.
        """
        return self.native.may_be_used_up

    @property
    def sender(self) -> int | None:
        """The process that sent the signal, if one did and is told."""
        return self.native.sender

    @property
    def meaning(self) -> str | None:
        """What the kernel says of the fault; None where it says nothing."""
        return self.native.meaning

    @property
    def was_sent(self) -> bool:
        """Whether a process sent the signal: nothing that the program did is to blame then."""
        return self.native.was_sent

    @property
    def sent_by_another(self) -> bool:
        """Whether it was another process than this one."""
        return self.sender is not None and self.sender != self.image.native.pid

    @property
    def gave_up(self) -> bool:
        """Whether it may be the program's runtime that ended it: what runtimes keep of an earlier
        trouble, or of one that is being dealt with, is not why a fault or a kill ends a program.
        """
        return self.signal in _GIVE_UP and not self.sent_by_another

    @property
    def pc(self) -> int:
        return self.image.wrapped(self.thread.pc or 0)

    @property
    def sp(self) -> int:
        return self.image.wrapped(self.thread.sp or 0)

    @property
    def instruction(self) -> str | None:
        """The instruction at pc as assemblers write it; None where none is to be read."""
        return self.native.instruction

    def is_canonical(self, address: int) -> bool:
        """Whether it is an address that x86-64 can have."""
        return self.image.pointer_size < 8 or address >> 47 in (0, (1 << 17) - 1)

    def mapping_at(self, address: int) -> tuple[int, int, str, str] | None:
        """(begin, end, permissions, path) of what is mapped there."""
        at = bisect_right(self._begins, address) - 1
        if at < 0 or address >= self._mappings[at].end:
            return None
        mapping = self._mappings[at]
        return mapping.begin, mapping.end, mapping.permissions, mapping.path

    def mappings_of(self, path: str) -> list[native.Mapping]:
        """All of a file."""
        return [each for each in self._mappings if each.path == path]

    @cached_property
    def _mappings(self) -> list[native.Mapping]:
        return self.image.native.mappings

    @cached_property
    def _begins(self) -> list[int]:
        return [mapping.begin for mapping in self._mappings]

    def is_writable(self, address: int) -> bool:
        """Whether memory is mapped there that the program may write to."""
        mapping = self.mapping_at(address)
        return mapping is not None and "w" in mapping[2]

    def is_constant(self, address: int) -> bool:
        """Whether memory is mapped there that is the program's data and that it may not write."""
        mapping = self.mapping_at(address)
        return mapping is not None and mapping[2][:1] == "r" and "w" not in mapping[2]

    def is_known_code(self, address: int) -> bool:
        """Whether memory is mapped there that can be executed."""
        mapping = self.mapping_at(address)
        return mapping is not None and "x" in mapping[2]

    def stack_of(self, level: int) -> tuple[int, int] | None:
        """From where to where the stack of a frame reaches; None where that is not known, as where
        it begins on another stack.
        """
        frame = self.frame(level)
        if frame is None or frame.cfa is None:
            return None
        begin = self.trace.sp
        for below in range(level - 1, -1, -1):
            inner = self.trace.frames[below]
            if inner.cfa is not None and not inner.inlined:
                begin = inner.cfa
                break
        return (begin, frame.cfa) if 0 <= frame.cfa - begin <= _LARGEST_FRAME else None

    def stack_words(self, level: int) -> list[int]:
        """The words of a frame's stack, as far as it is known."""
        extent, size = self.stack_of(level), self.image.pointer_size
        data = b"" if extent is None else self.image.read(extent[0], extent[1] - extent[0])
        parts = (data[at : at + size] for at in range(0, len(data) - size + 1, size))
        return [number_in(self.image, part) for part in parts]

    def frame(self, level: int) -> Frame | None:
        return self.trace.frames[level] if level < len(self.trace.frames) else None

    @cached_property
    def functions(self) -> list[str]:
        """The names of the innermost frames, as far as runtimes have theirs there."""
        return [frame.function or "" for frame in self.trace.frames[:64]]

    def level_of(self, *names: str) -> int | None:
        """The level of the innermost frame with one of these names."""
        return next((at for at, name in enumerate(self.functions) if name in names), None)

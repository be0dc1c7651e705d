"""The moment of a crash: what its causes are read from."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from whocall.core.architecture import architecture
from whocall.core.operations import LONGEST, operation_at
from whocall.core.signals import signal_name
from whocall.report.backtrace.words import describe_function
from whocall.report.page.accesses import Access, accesses
from whocall.report.page.faults import is_x86, meaning, tells_address, tells_sender
from whocall.report.page.operands import accessed, value_of

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.core.image import ProcessImage
    from whocall.core.model import Backtrace, Frame
    from whocall.core.operations import Operation


_LARGEST_FRAME = 1 << 16  # bytes of a runtime's own functions
NEAR_NULL = 4096  # bytes: the first page, which Linux maps for nobody
_GIVE_UP = ("SIGABRT", "SIGILL", "SIGTRAP")  # by what runtimes end: abort(), or a trap


class Fact(NamedTuple):
    """One thing that is known about a crash."""

    kind: str  # "null-call", "stack-overflow", ...
    text: str  # a sentence without its full stop, as "it called address 0"
    proof: str  # what shows it
    level: int | None = None  # of the frame that lies above a runtime's own, where that is known


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
        info = self.thread.signal_info
        self.code: int | None = None if info is None else info[0]
        self._info = info

    @property
    def fault(self) -> int | None:
        """The address that the fault is about, where the kernel tells it, or else the instruction
        and what is mapped.
        """
        if self.code is None:
            return None if self._seen_fault is None else self._seen_fault[0]
        if self._told_address is None or not tells_address(self.image.arch, self.signal, self.code):
            return None
        return self.image.wrapped(self._told_address)

    @property
    def proof_of_fault(self) -> str:
        """What tells its address."""
        if self.code is None and self._seen_fault is not None:
            return self._seen_fault[1]
        if self.fault is None:
            return "the kernel tells no address"
        told = f"the kernel gives {self.fault:#x} as the fault's address"
        return f"{told}; the instruction is `{self.instruction}`" if self.instruction else told

    @property
    def _told_address(self) -> int | None:
        return None if self._info is None else self._info[1]

    @cached_property
    def _seen_fault(self) -> tuple[int, str] | None:
        """The address of a fault of which no si_code is told, and what shows it.

        Folklore. Situation: a dump keeps an address, and not what it is (flags 0 of a minidump), or
        nothing of the signal (qemu's cores). Example: of a pointer that no pointer can be the
        kernel tells the address 0, which is no access to null. Remedy: the address is the fault's
        where the instruction accesses it by the registers; so is one where nothing is mapped.
        """
        if self.signal not in ("SIGSEGV", "SIGBUS") or self.was_sent:
            return None
        told = self._told_address
        if told is not None and self.is_nowhere and abs(told - self.pc) < LONGEST:
            return told, f"the dump gives {told:#x} as the fault's address, the program counter's"
        for access in self.accesses:
            if told is not None and 0 <= told - access.address < access.size:
                return told, (
                    f"the dump gives {told:#x} as the fault's address, "
                    f"which `{self.instruction}` accesses"
                )
        for access in self.accesses:
            if not self._allows(access):
                why = "which the memory there does not allow"
                if self.mapping_at(access.address) is None:
                    why = "where nothing is mapped"
                return access.address, f"`{self.instruction}` accesses {access.address:#x}, {why}"
        return None

    def _allows(self, access: Access) -> bool:
        """Whether memory may be there that allows an access, as far as that is known."""
        if self.image.native.partial_map or not self._mappings:
            return access.address >= NEAR_NULL
        if not self.is_canonical(access.address):
            return True  # of which no address is told
        at = bisect_right(self._begins, access.address) - 1
        if at < 0 or access.address >= self._mappings[at].end:
            return False
        mapping = self._mappings[at]
        needed = "w" if access.written else "r" if access.written is not None else ""
        return not mapping.permissions_known or needed in mapping.permissions

    @cached_property
    def operation(self) -> Operation | None:
        """The instruction at pc; None where none is to be read."""
        return operation_at(self.image, self.pc) if self.is_code(self.pc) else None

    @cached_property
    def accesses(self) -> list[Access]:
        """What memory it accesses, as far as the registers tell."""
        if self.operation is None:
            return []
        return accesses(self.image, self.thread.registers, self.operation)

    @property
    def is_nowhere(self) -> bool:
        """Whether it is proved that no code is at pc."""
        if self.is_code(self.pc):
            may_be_none = self.signal == "SIGSEGV" and not self.knows_protection(self.pc)
            return may_be_none and self._fetch_faulted
        if not self.image.native.partial_map or self.mapping_at(self.pc) is not None:
            return True
        return self.pc < NEAR_NULL or not self.is_canonical(self.pc) or self._fetch_faulted

    @property
    def _fetch_faulted(self) -> bool:
        """Whether the fault's address is of the instruction, and nothing that it accesses."""
        if self.signal not in ("SIGSEGV", "SIGBUS") or self.was_sent:
            return False
        fault = self._told_address if self.code is None else self.fault
        if fault is None or not 0 <= fault - self.pc < LONGEST:
            return False
        return not any(0 <= fault - each.address < each.size for each in self.accesses)

    def knows_protection(self, address: int) -> bool:
        """Whether it is told what the memory mapped there allows."""
        at = bisect_right(self._begins, address) - 1
        return at >= 0 and self._mappings[at].permissions_known

    @property
    def sender(self) -> int | None:
        """The process that sent the signal, if one did and is told."""
        return self._info[2] if self._info is not None and self.was_sent else None

    @property
    def meaning(self) -> str | None:
        """What the kernel says of the fault; None where it says nothing."""
        if self.code is None:
            return None
        return meaning(self.image.arch, self.signal, self.code)

    @property
    def was_sent(self) -> bool:
        """Whether a process sent the signal: nothing that the program did is to blame then."""
        if self.code is None:
            return self._info is not None and self._info[2] is not None
        return tells_sender(self.code)

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
    def returns_by_stack(self) -> bool:
        """Whether a return may take its address right off the stack: x86's do, and ARM's pop."""
        facts = architecture(self.image.arch)
        return facts.calls_push or facts.family == "arm"

    def without_mode(self, address: int) -> int:
        """A code pointer without ARM's bit for T32."""
        return self.image.wrapped(address & ~architecture(self.image.arch).mode_bit)

    def may_have_called(self, return_address: int, target: int) -> bool:
        """Whether the instruction in front of a return address is a call that may have led there:
        of that address, or of a pointer. A register may still hold the return address of an
        earlier call.
        """
        rows = self.image.native.listing(return_address, None, 1, 0)
        if len(rows) != 1:
            return False
        _, _, text, direct = rows[0]
        if direct is not None:
            return direct == target
        # Who was called there may have jumped on; nothing has changed since a call right away.
        held = value_of(self.image, self._registers_of_call, text, return_address)
        return held is None or self.without_mode(held) == target

    @property
    def _registers_of_call(self) -> dict[str, int]:
        """What registers held when a call was made that has just led to pc: x86's has pushed its
        return address since, and the pointer that it called may lie on the stack.
        """
        pushed = self.image.word_size if is_x86(self.image.arch) else 0
        moved = {name: value + pushed for name, value in self.thread.registers.items()
                 if name in ("rsp", "esp")}  # fmt: skip
        return {**self.thread.registers, **moved}

    @property
    def operand(self) -> int | None:
        """The value of the only operand of the instruction at pc."""
        return value_of(self.image, self.thread.registers, self.instruction or "", self._following)

    @property
    def accessed(self) -> tuple[int, int] | None:
        """The address and the size (bytes) of what the instruction at pc accesses, on x86."""
        return accessed(self.image, self.thread.registers, self.instruction or "", self._following)

    @property
    def _following(self) -> int:
        rows = self.image.native.listing(self.pc, self.pc, 0, 1)
        return self.pc + (len(rows[0][1]) if rows else 0)

    @property
    def _link(self) -> str | None:
        names = ("lr", "x30", "ra")
        return next((name for name in names if name in self.thread.registers), None)

    @property
    def link_register(self) -> int | None:
        """What calls leave their return address in, where that is a register."""
        return None if self._link is None else self.without_mode(self.thread.registers[self._link])

    @property
    def return_address_of_call(self) -> tuple[int, str] | None:
        """What a call that has just been made left as its return address, and where it is."""
        if self.link_register is not None:
            return self.link_register, f"the register {self._link}"
        word = self.image.word_at(self.sp)
        return None if word is None else (word, f"the word at the stack pointer, {self.sp:#x}")

    @cached_property
    def instruction(self) -> str | None:
        """The instruction at pc as assemblers write it; None where none is to be read."""
        if not self.is_code(self.pc):
            return None
        rows = self.image.native.listing(self.pc, self.pc, 0, 1)
        return rows[0][2] or None if rows else None

    def is_code(self, address: int) -> bool:
        """Whether an instruction can stand at an address, by the map of the memory. True where
        that does not tell, as of cores without their files.
        """
        mapping = self.mapping_at(address)
        if mapping is not None:
            return "x" in mapping[2]
        known = bool(self._mappings)
        return not known or any(m.begin <= address < m.end for m in self.image.modules)

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

    def frame(self, level: int) -> Frame | None:
        return self.trace.frames[level] if level < len(self.trace.frames) else None

    @cached_property
    def functions(self) -> list[str]:
        """The names of the innermost frames, as far as runtimes have theirs there."""
        return [frame.function or "" for frame in self.trace.frames[:64]]

    def level_of(self, *names: str) -> int | None:
        """The level of the innermost frame with one of these names."""
        return next((at for at, name in enumerate(self.functions) if name in names), None)

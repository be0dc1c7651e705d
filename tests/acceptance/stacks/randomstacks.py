"""Stacks, registers and code that mean nothing, in the memory of a real process.

The modules are those of a core of a stock program: their files, tables and code are real. Every
thread is made up, with a stack of its own beside the real memory, so that one image walks hundreds
of them. Only frame 0 of such a thread is true.
"""

from __future__ import annotations

import itertools
import random
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from whocall.base.native_module import native

WORD = 8
PAGE = 4096
BELOW = PAGE
"""Bytes of a made-up stack below the stack pointer: what functions left that returned."""
STACK = 4 * PAGE
"""Bytes above it."""
REGIONS_AT = 0x7E00_0000_0000
REGIONS_APART = 1 << 20
NOWHERE = range(0x1000, 0x1_0000_0000)
"""Nothing is mapped here: position-independent programs and libraries lie above."""
RETURN_ADDRESSES = 5000
"""How many addresses behind calls are drawn for an image."""

REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{at}" for at in range(8, 16)))


@dataclass(frozen=True)
class MadeUp:
    """A thread: its registers, and memory that belongs to it alone, by address in whole pages."""

    registers: dict[str, int]
    stack: dict[int, bytes] = field(default_factory=dict)
    code: dict[int, bytes] = field(default_factory=dict)


class RealMemory:
    """What the made-up threads lie beside: a core of an x86-64 program."""

    def __init__(self, process: native.Process, chance: random.Random) -> None:
        self.process = process
        self.chance = chance
        # gcore leaves out what is unchanged on disk, so nothing tells that a locale is no code, and
        # nobody can read the page that a library has mapped once more.
        self._code = [
            range(it.begin, it.end)
            for it in process.mappings
            if "x" in it.permissions
            and any(module.begin <= it.begin < module.end for module in process.modules)
        ]
        self._ends = list(itertools.accumulate(map(len, self._code)))

    def code_address(self) -> int:
        """Any byte of the mapped files' code, each with the same probability."""
        at = self.chance.randrange(self._ends[-1])
        index = bisect_right(self._ends, at)
        return self._code[index].stop - (self._ends[index] - at)

    @cached_property
    def return_addresses(self) -> list[int]:
        """What direct calls push whose target is code of the same file."""
        code = [self.process.read(part.start, len(part)) for part in self._code]
        found: list[int] = []
        while len(found) < RETURN_ADDRESSES:
            index = bisect_right(self._ends, self.chance.randrange(self._ends[-1]))
            part, data = self._code[index], code[index]
            at = data.find(b"\xe8", self.chance.randrange(len(data)))
            after = at + 5
            target = after + int.from_bytes(data[at + 1 : after], "little", signed=True)
            if 0 <= at < len(data) - 5 and 0 <= target < len(data):
                found.append(part.start + after)
        return found

    def _permissions(self, mapping: native.Mapping) -> str:
        code = not mapping.path or any(mapping.begin == part.start for part in self._code)
        return mapping.permissions if code else mapping.permissions.replace("x", "-")

    def image(self, threads: Sequence[MadeUp]) -> native.Process:
        """The process with these threads instead of its own."""
        own = {at: page for it in threads for at, page in (it.stack | it.code).items()}
        mappings = [
            (it.begin, it.end, self._permissions(it), it.offset, it.path)
            for it in self.process.mappings
        ]
        mappings += [(*_bounds(it.stack), "rw-", 0, "") for it in threads if it.stack]
        mappings += [(*_bounds(it.code), "r-x", 0, "") for it in threads if it.code]

        def read(address: int, size: int) -> bytes:
            found = b""
            while size > len(found):
                at = address + len(found)
                page = own.get(at - at % PAGE)
                if page is None:
                    return found + self.process.read(at, size - len(found))
                found += page[at % PAGE :][: size - len(found)]
            return found

        modules = self.process.modules
        return native.open_inferior(
            self.process.arch,
            self.process.pid,
            [(at + 1, at + 1, "", 0, thread.registers) for at, thread in enumerate(threads)],
            mappings,
            [(it.file_path, it.bias, it.is_executable) for it in modules if it.file_path],
            next((it.begin for it in modules if it.path == "[vdso]"), None),
            read,
        )


def _bounds(pages: dict[int, bytes]) -> tuple[int, int]:
    return min(pages), max(pages) + PAGE


def pages(begin: int, data: bytes) -> dict[int, bytes]:
    """Memory from the page boundary `begin` on."""
    return {begin + at: data[at : at + PAGE] for at in range(0, len(data), PAGE)}


def region(number: int) -> int:
    """Where the made-up memory of thread `number` begins; its code lies in the second half."""
    return REGIONS_AT + number * REGIONS_APART


def on_stack_of(number: int, pc: int, stack: Sequence[int], chance: random.Random) -> MadeUp:
    """Thread `number`, stopped at `pc` on a stack of these words.

    Its registers are any numbers, addresses on the stack, or what stands on the stack, by turns of
    chance: a frame pointer that leads somewhere fools a walk more than one that does not.
    """
    begin = region(number)
    draws: tuple[Callable[[], int], ...] = (
        lambda: chance.getrandbits(64),
        lambda: begin + chance.randrange(len(stack)) * WORD,
        lambda: chance.choice(stack),
    )
    registers = {name: chance.choice(draws)() for name in REGISTERS}
    registers |= {"rip": pc, "rsp": begin + BELOW, "eflags": 0x246}
    return MadeUp(registers, pages(begin, array("Q", stack).tobytes()))

"""Registers: where the CPU contexts of minidumps have them, and where the cores of Linux do.

Each instruction set is data: a struct format of the context with the names of what it holds, and
the names in the order of `elf_gregset_t`. Offsets and sizes are bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from whocall.core.records import dataclass


@dataclass(frozen=True)
class Machine:
    """An instruction set as a core needs it."""

    name: str
    elf_machine: int
    pointer_size: int
    registers: tuple[str, ...]  # of pr_reg, in their order; "" is a word of zeros
    thread_pointer: str  # the register that holds it; empty: none in pr_reg

    @property
    def prstatus_size(self) -> int:
        """With pr_fpvalid behind the registers, padded."""
        word = self.pointer_size
        size = self.registers_offset + word * len(self.registers) + 4
        return (size + word - 1) // word * word

    @property
    def registers_offset(self) -> int:
        return 112 if self.pointer_size == 8 else 72

    @property
    def pid_offset(self) -> int:
        return 32 if self.pointer_size == 8 else 24


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(count))


X86_64 = Machine(
    "x86_64", 62, 8,
    ("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
     "rdi", "orig", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs",
     "gs"),
    "fs_base",
)  # fmt: skip
I386 = Machine(
    "i386", 3, 4,
    ("ebx", "ecx", "edx", "esi", "edi", "ebp", "eax", "ds", "es", "fs", "gs", "orig", "eip", "cs",
     "eflags", "esp", "ss"),
    "",
)  # fmt: skip
ARM = Machine("arm", 40, 4, (*_numbered("r", 16), "cpsr", "orig"), "")
AARCH64 = Machine("aarch64", 183, 8, (*_numbered("x", 31), "sp", "pc", "pstate"), "")

# Of MINIDUMP_SYSTEM_INFO.ProcessorArchitecture.
MACHINES = {0: I386, 5: ARM, 9: X86_64, 12: AARCH64, 0x8003: AARCH64}


class _Layout:
    """A context of `size` bytes at least: `form` with the names of its fields, from `start` on."""

    def __init__(self, size: int, start: int, form: str, names: tuple[str, ...]) -> None:
        self.size = size
        self.start = start
        self.form = struct.Struct("<" + form)
        self.names = names


_LAYOUTS: Mapping[str, tuple[_Layout, ...]] = {
    "x86_64": (
        _Layout(
            256, 56, "6HI48x17Q",
            ("cs", "ds", "es", "fs", "gs", "ss", "eflags", "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
             "rsi", "rdi", *(f"r{number}" for number in range(8, 16)), "rip"),
        ),
    ),
    "i386": (
        _Layout(
            204, 140, "16I",
            ("gs", "fs", "es", "ds", "edi", "esi", "ebx", "edx", "ecx", "eax", "ebp", "eip", "cs",
             "eflags", "esp", "ss"),
        ),
    ),
    "arm": (_Layout(72, 4, "17I", (*_numbered("r", 16), "cpsr")),),
    "aarch64": (
        _Layout(272, 4, "I33Q", ("pstate", *_numbered("x", 31), "sp", "pc")),
        _Layout(276, 8, "33QI", (*_numbered("x", 31), "sp", "pc", "pstate")),
    ),
}  # fmt: skip
# Breakpad's older contexts of AArch64 begin with flags of 64 bits, of which this one is set.
_OLD_AARCH64 = 0x80000000


def registers(context: bytes, machine: Machine) -> dict[str, int] | None:
    """The registers by name; None where the context is too short."""
    layouts = _LAYOUTS[machine.name]
    layout = layouts[0]
    if len(layouts) > 1 and int.from_bytes(context[:4], "little") & _OLD_AARCH64:
        layout = layouts[1]
    if len(context) < layout.size:
        return None
    return dict(zip(layout.names, layout.form.unpack_from(context, layout.start)))


def prstatus(machine: Machine, lwp: int, signal: int, found: Mapping[str, int]) -> bytes:
    """The contents of NT_PRSTATUS: struct elf_prstatus, with what the dump does not tell zero."""
    note = bytearray(machine.prstatus_size)
    struct.pack_into("<I", note, 0, signal)
    struct.pack_into("<H", note, 12, signal)
    struct.pack_into("<I", note, machine.pid_offset, lwp)
    word = "Q" if machine.pointer_size == 8 else "I"
    mask = (1 << machine.pointer_size * 8) - 1
    # No system call is on its way: gdb would take a 0 there for one to begin anew.
    values = [found.get(name, mask if name == "orig" else 0) for name in machine.registers]
    struct.pack_into(f"<{len(values)}{word}", note, machine.registers_offset, *values)
    return bytes(note)

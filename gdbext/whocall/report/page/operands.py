"""What the operand of an instruction is at the moment of a crash.

Of instructions as they are listed: a register of any instruction set by its name, and x86's memory
operands, `qword ptr [rax + rcx*8 - 0x10]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from whocall.report.page.faults import is_x86

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage

_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32,
          "zmmword": 64}  # fmt: skip
_MEMORY = re.compile(r"([a-z]+) ptr \[([^\]]+)\]")
_TERM = re.compile(r"([+-]?)\s*(?:([a-z]\w*)(?:\*([1248]))?|(0x[0-9a-f]+|\d+))\s*")
# rax, eax, ax, al; r8, r8d, r8w, r8b; ah and its like are not among them.
_OLD = re.compile(r"([re]?)([abcd]x|[sd]i|[sb]p)\Z")
_LOW = re.compile(r"([abcd])l\Z|([sd]i|[sb]p)l\Z")
_NEW = re.compile(r"(r(?:8|9|1[0-5]))([dwb]?)\Z")


def _x86_register(name: str, registers: Mapping[str, int]) -> int | None:
    old, low, new = _OLD.match(name), _LOW.match(name), _NEW.match(name)
    if old:
        bare, size = old[2], {"r": 8, "e": 4, "": 2}[old[1]]
    elif low:
        bare, size = f"{low[1]}x" if low[1] else low[2], 1
    elif new:
        value = registers.get(new[1])
        size = {"": 8, "d": 4, "w": 2, "b": 1}[new[2]]
        return None if value is None else value & ((1 << size * 8) - 1)
    else:
        return None
    value = registers.get(f"r{bare}", registers.get(f"e{bare}"))
    return None if value is None else value & ((1 << size * 8) - 1)


def register(image: ProcessImage, registers: Mapping[str, int], name: str) -> int | None:
    """The value of a register, or of the part of one; None where it is not known."""
    if is_x86(image.arch):
        return _x86_register(name, registers)
    return registers.get(name)


def _address(
    image: ProcessImage, registers: Mapping[str, int], text: str, following: int
) -> int | None:
    total, at = 0, 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            return None
        at = term.end()
        if term[4]:
            value: int | None = int(term[4], 0)
        elif term[2] in ("rip", "eip"):
            value = following
        else:
            value = register(image, registers, term[2])
        if value is None:
            return None
        total += (-value if term[1] == "-" else value) * int(term[3] or 1)
    return image.wrapped(total)


def accessed(
    image: ProcessImage, registers: Mapping[str, int], instruction: str, following: int
) -> tuple[int, int] | None:
    """The address and the size (bytes) of the memory operand of an instruction of x86's, which ends
    at the address `following`; None where there is none, or where that cannot be told.
    """
    memory = _MEMORY.search(instruction)
    if memory is None or memory[1] not in _SIZES:
        return None
    address = _address(image, registers, memory[2], following)
    return None if address is None else (address, _SIZES[memory[1]])


def value_of(
    image: ProcessImage, registers: Mapping[str, int], instruction: str, following: int
) -> int | None:
    """The value of the only operand of an instruction, which ends at the address `following`; None
    where it has another number of them, or where that cannot be told.
    """
    _, _, operand = instruction.partition(" ")
    if not operand or "," in operand:
        return None
    if _MEMORY.fullmatch(operand) is None:
        return register(image, registers, operand)
    address, size = accessed(image, registers, operand, following) or (None, 0)
    data = b"" if address is None else image.read(address, size)
    return int.from_bytes(data, "little") if len(data) == size > 0 else None

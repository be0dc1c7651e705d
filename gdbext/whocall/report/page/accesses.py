"""What memory an instruction accesses at the moment of a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from whocall.core.operations import MEMORY, WRITTEN, Operand, Operation
from whocall.report.page.faults import is_x86
from whocall.report.page.operands import register

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage

_ONLY_NAMED = ("lea", "nop", "prefetch")  # what has an operand in memory, and leaves that alone
# Instructions of x86's that only read their first operand; of x87's those that store are others.
_X86_READING = (
    *("cmp", "test", "push", "call", "jmp", "lcall", "ljmp"),
    *("mul", "imul", "div", "idiv", "ucomis", "comis", "vucomis", "vcomis", "ptest", "vptest"),
    *("vtest", "fld", "fild", "fbld", "fadd", "fiadd", "fsub", "fisub", "fmul", "fimul", "fdiv"),
    *("fidiv", "fcom", "ficom", "frstor", "fxrstor", "xrstor", "ldmxcsr", "vldmxcsr", "lgdt"),
)
_ARM_NAMES = {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}


class Access(NamedTuple):
    """Bytes from a runtime address on; whether they are written, None where that is not known."""

    address: int
    size: int
    written: bool | None


def accesses(
    image: ProcessImage, registers: Mapping[str, int], operation: Operation
) -> list[Access]:
    """Those whose address the registers tell."""
    on_x86 = is_x86(image.arch)
    name = operation.mnemonic.removeprefix("bnd ").removeprefix("lock ")
    found = list(_of_stack(image, registers, operation, name)) if on_x86 else []
    if name.startswith(_ONLY_NAMED):
        return found
    for number, operand in enumerate(operation.operands):
        if operand.kind != MEMORY or operand.segment:
            continue
        address = _address(image, registers, operation, operand)
        if address is not None:
            size = operand.size or image.word_size
            found.append(Access(address, size, writes(image.arch, operation, number)))
    return found


def writes(arch: str, operation: Operation, number: int) -> bool | None:
    """Whether an instruction writes its operand of that number, which is in memory; None where it
    may do either.
    """
    name, access = operation.mnemonic, operation.operands[number].access
    if is_x86(arch):
        # What is written comes first. The library's word is not asked: Capstone 4 takes what
        # `vmovdqu ymmword ptr [rdi], ymm0` writes for read.
        bare = name.rpartition(" ")[2]
        reads = bare == "bt" or (bare.startswith(_X86_READING) and not bare.startswith("cmpxchg"))
        return bare in ("xchg", "xadd") or (number == 0 and not reads)
    if name.startswith(("st", "vst", "push", "sw", "sb", "sh", "sd")):  # such sets load and store
        return True
    if name.startswith(("l", "vl", "pop")):
        return False
    return bool(access & WRITTEN) if access else None


def _of_stack(
    image: ProcessImage, registers: Mapping[str, int], operation: Operation, name: str
) -> Iterator[Access]:
    """What x86 pushes and takes off the stack."""
    word = image.word_size
    sp = register(image, registers, "rsp" if word == 8 else "esp")
    fp = register(image, registers, "rbp" if word == 8 else "ebp")
    if sp is None:
        return
    if operation.flow == "call" or name.startswith(("push", "enter")):
        yield Access(image.wrapped(sp - word), word, True)
    elif operation.flow == "leave" or name.startswith("pop"):
        yield Access(sp, word, False)
    elif name == "leave" and fp is not None:
        yield Access(fp, word, False)


def _address(
    image: ProcessImage, registers: Mapping[str, int], operation: Operation, operand: Operand
) -> int | None:
    total = operand.value
    if operand.register in ("rip", "eip"):
        total += operation.address + operation.size
    elif operand.register:
        base = _value(image, registers, operand.register)
        if base is None:
            return None
        total += base
    if operand.indexed:
        index = _value(image, registers, operand.indexed)
        if index is None or operand.scale == 0:
            return None
        total += index * operand.scale
    return image.wrapped(total)


def _value(image: ProcessImage, registers: Mapping[str, int], name: str) -> int | None:
    if image.arch.startswith("arm"):
        name = _ARM_NAMES.get(name, name)
        return None if name == "pc" else registers.get(name)  # which is ahead of the instruction
    return register(image, registers, name)

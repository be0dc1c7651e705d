"""What the code of a function says that other compilers would say too.

Names that a stripped program has lost cannot be compared, and addresses differ from build to
build. But whatever compiles the same source calls the same functions of libraries, reads the same
strings, asks for the same fields of structures (their offsets are fixed by the ABI) and compares
with the same numbers. Those are its anchors, each with its place among the instructions.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from whocall.base.architecture import is_of_family
from whocall.base.operations import MEMORY, NUMBER, Operand, Operation, operations

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

LONGEST = 1 << 15  # bytes of a function that are read
_TEXT = 60  # characters of a string


class Code(NamedTuple):
    """A function's code: a hash of its shape, and anchors by link address of the instruction."""

    shape: str
    anchors: list[tuple[int, str]]
    places: list[int]  # link address of each instruction
    writes: list[int]  # of those, the ones that may write to memory


NOTHING = Code("", [], [], [])


def read_code(image: ProcessImage, start: int, size: int, bias: int) -> Code:
    """Of the function of `size` bytes at the runtime address `start`; NOTHING where a part of it is
    not at hand: what is known of a part would be another function's shape.
    """
    wanted = min(size, LONGEST)
    if size <= 0 or len(image.read(start, wanted)) < wanted:
        return NOTHING
    reader = _Reader(image, bias)
    for instruction in operations(image, start, wanted):
        reader.take(instruction)
    if not reader.places:  # an instruction set that is not decoded
        return NOTHING
    return Code(
        hashlib.sha256("\n".join(reader.shape).encode()).hexdigest()[:16],
        reader.anchors,
        reader.places,
        reader.writes,
    )


class _Reader:
    """Takes the instructions of a function, one after the other."""

    def __init__(self, image: ProcessImage, bias: int) -> None:
        self._image, self._bias = image, bias
        self._on_x86 = is_of_family(image.arch, "x86")
        self._frame_pointer = False
        self._ranges = [(module.begin, module.end) for module in image.modules]
        self._constant_data = [
            (each.begin, each.end) for each in image.native.mappings if "w" not in each.permissions
        ]
        self.shape: list[str] = []
        self.anchors: list[tuple[int, str]] = []
        self.places: list[int] = []
        self.writes: list[int] = []

    def take(self, instruction: Operation) -> None:
        """Notes its shape and its anchors."""
        place = instruction.address - self._bias
        self.places.append(place)
        if self._on_x86 and instruction.mnemonic == "mov" and instruction.text == "rbp, rsp":
            self._frame_pointer = True
        kinds = "".join(str(operand.kind) for operand in instruction.operands)
        self.shape.append(f"{instruction.mnemonic} {kinds}")
        for anchor in self._anchors(instruction):
            self.anchors.append((place, anchor))

    def _anchors(self, instruction: Operation) -> list[str]:
        found: list[str] = []
        branch = instruction.flow in ("call", "jump")
        for number, operand in enumerate(instruction.operands):
            if operand.kind == NUMBER:
                value = operand.value & ((1 << 64) - 1)
                if branch:
                    found += self._called(value)
                else:
                    found += self._constant(instruction, value)
            elif operand.kind == MEMORY:
                found += self._accessed(instruction, operand, branch)
                if number == 0 and self._on_x86:
                    self.writes.append(instruction.address - self._bias)
        return found

    def _called(self, target: int) -> list[str]:
        from whocall.triage.runtime_frames import plain_name

        place = self._image.native.describe(target, lines=False, refused=False)
        if place.function is None or place.offset or place.function.startswith("sub_"):
            return []
        return [f"call:{family(plain_name(place.function.removesuffix('@plt')))}"]

    def _constant(self, instruction: Operation, value: int) -> list[str]:
        if any(begin <= value < end for begin, end in self._ranges):
            return self._text(value)
        if instruction.text.startswith(("rsp", "esp", "sp")):
            return []
        signed = value - (1 << 64) if value >> 63 else value
        if value >> 31 == 1:  # 32 bits, with and without sign
            signed = value - (1 << 32)
        return [f"number:{signed}"] if abs(signed) > 2 else []

    def _accessed(self, instruction: Operation, operand: Operand, branch: bool) -> list[str]:
        base, offset = operand.register, operand.value
        if base == "rip":
            address = instruction.address + instruction.size + offset
            if branch:
                target = self._image.word_at(address)
                return self._called(target) if target else []
            return self._text(address)
        if base in ("rsp", "esp", "sp") or (base in ("rbp", "ebp", "x29") and self._frame_pointer):
            return []
        if offset > 0xFFFF and not base:
            return []
        return [f"field:{offset}"] if 0 < abs(offset) < 0x10000 else []

    def _text(self, address: int) -> list[str]:
        if not any(begin <= address < end for begin, end in self._constant_data):
            return []
        text = text_at(self._image, address)
        return [f"text:{text}"] if text else []


def imported_at(image: ProcessImage, begin: int, end: int) -> str | None:
    """What the call at these runtime addresses calls of the runtime, by its slot or directly; None
    where it calls the program's own code, or nobody can tell.
    """
    from whocall.triage.runtime_frames import is_runtime, plain_name

    for call in operations(image, begin, end - begin):
        if call.flow != "call":
            continue
        target = _target(image, call)
        place = image.native.describe(target, lines=False, refused=False) if target else None
        if place is None or place.function is None or place.offset:
            return None
        name = place.function.removesuffix("@plt")
        runtime = name != place.function or is_runtime(place.module, name)
        return plain_name(name) if runtime else None
    return None


def _target(image: ProcessImage, call: Operation) -> int | None:
    """Where a call goes; None where a register tells it."""
    operand = call.operands[0] if call.operands else None
    if operand is None:
        return None
    if operand.kind == NUMBER:
        return operand.value & ((1 << 64) - 1)
    if operand.kind != MEMORY or operand.register != "rip":
        return None
    return image.word_at(call.address + call.size + operand.value)


def text_at(image: ProcessImage, address: int) -> str | None:
    """The start of a string of the program's constants; None where there is none."""
    data = image.read(address, _TEXT)
    text, end, _ = data.partition(b"\0")
    if len(text) < 3 or (not end and len(data) < _TEXT):
        return None
    text = text.rstrip(b"\n")  # puts() of a constant string for printf() has lost it
    if len(text) < 3 or not all(32 <= byte < 127 or byte in b"\t\n\r" for byte in text):
        return None
    found = text.decode("ascii")
    return found.rpartition("/")[2] if found.startswith("/") else found  # where it was built


_FAMILIES = {
    "puts": "printf", "putchar": "printf", "fputs": "fprintf", "fwrite": "fprintf",
    "fputc": "fprintf", "stpcpy": "strcpy", "mempcpy": "memcpy", "memmove": "memcpy",
    "vfprintf": "fprintf", "bcmp": "memcmp", "cfree": "free", "putc": "fprintf",
    "__assert_fail": "assert",
}  # fmt: skip


def family(name: str) -> str:
    """Functions that compilers put in each other's place under one name."""
    if name.endswith("_chk"):
        name = name[: -len("_chk")].lstrip("_")
    return _FAMILIES.get(name, name)

"""Instructions with their operands, as the native module decodes them."""

from __future__ import annotations

from whocall.base.named_tuples import NamedTuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

REGISTER, NUMBER, MEMORY = 1, 2, 3  # kinds of operands; 0 for what else there is
READ, WRITTEN = 1, 2
LONGEST = 16  # bytes of an instruction


class Operand(NamedTuple):
    """What an instruction works on."""

    kind: int
    access: int  # READ, WRITTEN, both; 0 where that is not known
    size: int  # bytes that are accessed; 0 where that is not known
    register: str  # of memory the base; empty for none
    indexed: str  # by that register
    scale: int  # of the index; 0 where it is changed in another way
    segment: bool  # the address counts from where a segment begins
    value: int  # the number, or the distance from the base


class Operation(NamedTuple):
    """An instruction; `flow` is "call", "jump", "leave" (it returns) or "next"."""

    address: int
    size: int
    flow: str
    mnemonic: str
    text: str  # of the operands
    operands: list[Operand]


def operations(image: ProcessImage, begin: int, size: int, most: int = 1 << 20) -> list[Operation]:
    """Of `size` bytes from a runtime address on, at most `most`; what is no instruction is left
    out.
    """
    return [
        Operation(*row[:5], [Operand(*each) for each in row[5]])
        for row in image.native.operations(begin, size, most)
    ]


def operation_at(image: ProcessImage, address: int) -> Operation | None:
    """The instruction that begins at an address; None where it cannot be read, or is none."""
    found = operations(image, address, LONGEST, 1)
    return found[0] if found and found[0].address == address else None

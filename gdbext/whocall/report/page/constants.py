"""What texts the code of a frame's function refers to: of a stripped program they tell which
function of a runtime it is.

Folklore. Situation: a runtime is linked into a stripped program, so that nothing is named.
Example: every program of Rust's, `-static` ones of C++. Remedy: the function that gives up holds
the words that it says, `terminate called without an active exception`: its instructions lead there,
right away or by a pointer among the constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.core.operations import MEMORY, NUMBER, Operation, operations
from whocall.report.page.scene import Scene

_LARGEST = 1 << 14  # bytes of a function
_MOST = 4096  # instructions of it
_COUNTED_FROM = ("rip", "eip", "")  # registers that an address may be told by; none


def code_of(scene: Scene, level: int) -> list[Operation]:
    """The instructions of the frame's function."""
    frame = scene.frame(level)
    if frame is None or frame.offset is None or frame.inlined or not 0 <= frame.offset < _LARGEST:
        return []
    at = frame.pc if frame.interrupted or not level else frame.pc - 1
    size = scene.image.native.describe(at, lines=False, refused=False).size or frame.offset
    return operations(scene.image, frame.pc - frame.offset, min(size, _LARGEST), _MOST)


def _page(operation: Operation) -> int | None:
    """What AArch64's `adrp` makes."""
    return operation.operands[-1].value if operation.mnemonic == "adrp" else None


def _addresses(scene: Scene, code: Sequence[Operation]) -> Iterator[int]:
    """What instructions make addresses of."""
    pages: dict[str, int] = {}
    for operation in code:
        page = _page(operation)
        operands = operation.operands
        if page is not None:
            pages[operands[0].register] = page
            continue
        for operand in operands:
            if operand.kind == NUMBER and operation.flow == "next":
                base = pages.get(operands[1].register, 0) if len(operands) == 3 else 0
                yield base + operand.value
            elif operand.kind == MEMORY and operand.register in _COUNTED_FROM:
                from_here = operand.register in ("rip", "eip")
                yield operand.value + (operation.address + operation.size if from_here else 0)
            elif operand.kind == MEMORY and operand.register in pages:
                yield pages[operand.register] + operand.value


def refers_to(scene: Scene, level: int, wanted: Sequence[bytes]) -> bytes | None:
    """Which of the texts the function at a level refers to, as the beginning of a constant."""
    longest = max(map(len, wanted))
    seen = set[int]()
    for address in _addresses(scene, code_of(scene, level)):
        if address in seen or scene.mapping_at(address) is None:
            continue
        seen.add(address)
        for begin in (address, scene.image.word_at(address)):
            if begin is not None and scene.is_constant(begin):
                data = scene.image.read(begin, longest)
                found = next((text for text in wanted if data.startswith(text)), None)
                if found is not None:
                    return found
    return None

"""What a small function of AArch64 returns, by its instructions: `called.py` tells of x86's."""

from __future__ import annotations

from whocall.core.operations import MEMORY, NUMBER, REGISTER, Operation, operation_at
from whocall.report.page.scene import Scene

_MOST = 64  # instructions
_NOTHING = ("bti", "nop", "paciasp", "autiasp", "hint")


def _result(scene: Scene, operation: Operation, registers: dict[str, int]) -> int | None:
    """What it puts into its first operand."""
    name, (_, *sources) = operation.mnemonic, operation.operands
    values = [each.value if each.kind == NUMBER else registers.get(each.register)
              for each in sources]  # fmt: skip
    if None in values or not values:
        return None
    first = values[0] or 0
    if name in ("mov", "adrp", "adr") and len(sources) == 1 and sources[0].kind != MEMORY:
        return first
    if name == "add" and len(sources) == 2 and sources[1].kind in (NUMBER, REGISTER):
        return scene.image.wrapped(first + (values[1] or 0))
    is_plain = len(sources) == 1 and sources[0].kind == MEMORY and not sources[0].indexed
    if name in ("ldr", "ldur") and is_plain and "!" not in operation.text:
        return scene.image.word_at(scene.image.wrapped(first + sources[0].value))
    return None


def returned_aarch64(scene: Scene, function: int, this: int) -> int | None:
    """What the member function at an address returns of the object `this`."""
    registers = {"x0": this}
    pc = function
    for _ in range(_MOST):
        operation = operation_at(scene.image, pc) if scene.is_known_code(pc) else None
        if operation is None:
            return None
        pc += operation.size
        operands = operation.operands
        if operation.mnemonic in _NOTHING:
            continue
        if operation.flow == "leave":
            return registers.get("x0") if operation.mnemonic == "ret" and not operands else None
        if operation.flow == "jump" and operation.mnemonic in ("b", "br") and len(operands) == 1:
            target = operands[0]
            pc = target.value if target.kind == NUMBER else registers.get(target.register, 0)
            continue
        if operation.flow != "next" or not operands or operands[0].kind != REGISTER:
            return None
        result = _result(scene, operation, registers)
        if result is None or not operands[0].register.startswith("x"):
            return None
        registers[operands[0].register] = result
    return None

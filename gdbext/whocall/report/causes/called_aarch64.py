"""What a small function of AArch64 returns, by its instructions: `called.py` tells of x86's."""

from __future__ import annotations

import re

from whocall.base.operations import MEMORY, NUMBER, REGISTER, Operation, operation_at
from whocall.report.causes.scene import Scene

_MOST = 64  # instructions
_NOTHING = ("bti", "nop", "paciasp", "autiasp", "hint")
_STACK = 1 << 60  # where the stack of the call lies
_ROOM = 1 << 16  # bytes of it, on both sides
_RETURN = 1  # an address that no code has
_NAMES = {"fp": "x29", "lr": "x30"}  # as the library has them since its version 5
_ZERO = "xzr"
_PLACE = re.compile(r"\[(\w+)(?:, #(-?\w+))?\](!)?(?:, #(-?\w+))?\Z")


class _Call:
    """A call under way."""

    def __init__(self, scene: Scene, function: int, this: int) -> None:
        self._scene = scene
        self._stack: dict[int, int] = {}
        self.registers = {"x0": this, "x30": _RETURN, "sp": _STACK}
        self.pc = function

    def step(self) -> bool:
        """One instruction; whether it may go on."""
        scene = self._scene
        operation = operation_at(scene.image, self.pc) if scene.is_known_code(self.pc) else None
        if operation is None:
            return False
        self.pc += operation.size
        if operation.mnemonic in _NOTHING:
            return True
        if operation.flow != "next":
            return self._went(operation)
        if any(each.kind == MEMORY for each in operation.operands):
            return self._accessed(operation)
        return self._computed(operation)

    def _went(self, operation: Operation) -> bool:
        """A jump, a call or a return."""
        name, operands = operation.mnemonic, operation.operands
        if operation.flow == "leave":
            self.pc = self.registers.get("x30", 0) if name == "ret" and not operands else 0
            return self.pc != 0
        if name not in ("b", "br", "bl", "blr") or len(operands) != 1:
            return False
        if operation.flow == "call":
            self.registers["x30"] = self.pc
        (target,) = operands
        is_number = target.kind == NUMBER
        self.pc = target.value if is_number else self._register(target.register) or 0
        return True

    def _computed(self, operation: Operation) -> bool:
        """A register is another, or a number."""
        name, operands = operation.mnemonic, operation.operands
        shifted = any(each.scale != 1 for each in operands[1:])
        if len(operands) < 2 or operands[0].kind != REGISTER or shifted:
            return False
        values = [
            each.value if each.kind == NUMBER else self._register(each.register)
            for each in operands[1:]
        ]
        first, *others = values
        result = None
        if name in ("mov", "adrp", "adr") and not others:
            result = first
        elif name in ("add", "sub") and len(others) == 1 and None not in values:
            sign = 1 if name == "add" else -1
            result = self._scene.image.wrapped((first or 0) + sign * (others[0] or 0))
        return result is not None and self._set(operands[0].register, result)

    def _register(self, register: str) -> int | None:
        return 0 if register == _ZERO else self.registers.get(_named(register))

    def _set(self, register: str, value: int) -> bool:
        """Whether it is one that is followed."""
        name = _named(register)
        if name != _ZERO:
            self.registers[name] = value
        return name.startswith("x") or name == "sp"

    def _accessed(self, operation: Operation) -> bool:
        """A load, or a store to the call's own stack."""
        name, place = operation.mnemonic, _PLACE.search(operation.text)
        moved = [each.register for each in operation.operands if each.kind == REGISTER]
        if place is None or name not in ("ldr", "ldur", "ldp", "str", "stur", "stp"):
            return False
        base = self._register(place[1])
        if base is None or not all(_named(each).startswith("x") for each in moved):
            return False
        wrapped = self._scene.image.wrapped
        before, behind = (int(each or "0", 0) for each in (place[2], place[4]))
        at = wrapped(base + before)
        for number, register in enumerate(moved):
            if not self._moved(name, wrapped(at + 8 * number), register):
                return False
        if place[3] or place[4]:  # the base moves on
            self.registers[_named(place[1])] = wrapped(at + behind)
        return True

    def _moved(self, name: str, at: int, register: str) -> bool:
        is_own = abs(at - _STACK) < _ROOM
        if name.startswith("st"):
            value = self._register(register)
            for near in range(at - 7, at + 8):
                self._stack.pop(near, None)
            if value is not None and is_own:
                self._stack[at] = value
            return is_own
        value = self._stack.get(at) if is_own else self._scene.image.word_at(at)
        if value is None and is_own:  # what the caller's register held
            self.registers.pop(_named(register), None)
            return True
        return value is not None and self._set(register, value)


def _named(register: str) -> str:
    return _NAMES.get(register, register)


def returned_aarch64(scene: Scene, function: int, this: int) -> int | None:
    """What the member function at an address returns of the object `this`."""
    call = _Call(scene, function, this)
    for _ in range(_MOST):
        if not call.step():
            return None
        if call.pc == _RETURN:
            return call.registers.get("x0")
    return None

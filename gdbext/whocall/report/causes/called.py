"""What a small function returns, by its instructions: of x86 those that fetch and hand on.

It is how a C++ object tells its text: `what()` of std::runtime_error is `mov rax, [rdi + 8]; ret`,
whatever class it is of and wherever its text lies; and where a thread keeps its exceptions, which
the function __cxa_get_globals returns. Nothing is run: each instruction is read, and what is not
one of these few, or writes to the process's memory, ends it without an answer.
"""

from __future__ import annotations

import re

from whocall.base.architecture import is_x86
from whocall.base.operations import MEMORY, NUMBER, REGISTER, Operand, Operation, operation_at
from whocall.report.causes.called_aarch64 import returned_aarch64
from whocall.report.causes.scene import Scene

_MOST = 64  # instructions
_LARGEST = 64  # bytes of an operand
_OLD = re.compile(r"([re]?)([abcd]x|[sd]i|[sb]p)\Z")
_BYTE = re.compile(r"(?:([sd]i|[sb]p)|([abcd]))([lh])\Z")
_NEW = re.compile(r"(r(?:8|9|1[0-5]))([dwb]?)\Z")
_MOST_MODULES = 1 << 16
_STACK = 1 << 60, 1 << 30  # where the stack of the call lies, on 64-bit machines and 32-bit ones
_RETURN = 1  # an address that no code has
_NOTHING = frozenset("endbr64 endbr32 nop".split())  # noqa: SIM905 - as they are written
_POINTERS_NAMES = {8: ("rdi", "rsp", "rbp", "rax", "rip"), 4: ("", "esp", "ebp", "eax", "eip")}


_TAKEN = {"je": True, "jne": False, "cmove": True, "cmovne": False}  # if the result was zero


def whole_register(name: str, word: int) -> tuple[str, int]:
    """The register that one is, or is the lower part of, and how many bytes of it; 0 of others."""
    old, new, byte = _OLD.match(name), _NEW.match(name), _BYTE.match(name)
    first = "r" if word == 8 else "e"
    if old is not None:
        return f"{first}{old[2]}", {"r": 8, "e": 4, "": 2}[old[1]]
    if byte is not None:
        return f"{first}{byte[1] or byte[2] + 'x'}", int(byte[3] == "l")
    if new is not None:
        return new[1], {"": 8, "d": 4, "w": 2, "b": 1}[new[2]]
    return name, 0


class _Call:
    """A call under way."""

    def __init__(self, scene: Scene, function: int, this: int | None) -> None:
        self._scene = scene
        self._word = scene.image.pointer_size
        self._first, self._sp, self._fp, self.result, self._ip = _POINTERS_NAMES[self._word]
        self.pc = function
        self._stack: dict[int, int] = {}
        self._is_zero: bool | None = None  # what the last comparison told
        self.registers = {self._sp: _STACK[self._word == 4]}
        if self._first:
            self._set_register(self._first, this)
        else:
            self._push(this)
        self._push(_RETURN)

    def _push(self, value: int | None) -> bool:
        """Whether it may go on: where the stack is, is known."""
        at = self.registers.get(self._sp)
        if at is None:
            return False
        self.registers[self._sp] = at - self._word
        self._stack.pop(at - self._word, None)
        if value is not None:
            self._stack[at - self._word] = value
        return True

    def _pop(self) -> int | None:
        at = self.registers.get(self._sp)
        if at is None:
            return None
        self.registers[self._sp] = at + self._word
        return self._stack.get(at)

    def _address(self, operation: Operation, operand: Operand) -> int | None:
        if operand.indexed:
            return None
        base: int | None = 0
        if operand.segment:  # the thread's own
            base = None if operand.register or self._word == 4 else self._thread
        elif operand.register == self._ip:
            base = operation.address + operation.size
        elif operand.register:
            base = self.registers.get(operand.register)
        return None if base is None else self._scene.image.wrapped(base + operand.value)

    @property
    def _thread(self) -> int | None:
        return self._scene.thread.registers.get("fs_base")

    def _value(self, operation: Operation, operand: Operand) -> int | None:
        if operand.kind == NUMBER:
            return self._scene.image.wrapped(operand.value)
        if operand.kind == REGISTER:
            return self._register(operand.register)
        at = self._address(operation, operand) if operand.kind == MEMORY else None
        if at is None:
            return None
        if operand.size == 1 and at not in self._stack:
            data = self._scene.image.read(at, 1)
            return data[0] if data else None
        if operand.size != self._word:
            return None
        return self._stack[at] if at in self._stack else self._scene.image.word_at(at)

    def _set(self, operation: Operation, operand: Operand, value: int | None) -> bool:
        """Whether it may go on: what is not known is known to be so."""
        if operand.kind == REGISTER:
            self._set_register(operand.register, value)
            return True
        at = self._address(operation, operand) if operand.kind == MEMORY else None
        if at is None or not abs(at - _STACK[self._word == 4]) < 1 << 16:
            return False
        for near in range(at - self._word + 1, at + (operand.size or _LARGEST)):
            self._stack.pop(near, None)
        if value is not None and operand.size == self._word:
            self._stack[at] = value
        return True

    def step(self) -> bool:
        """One instruction; whether it may go on."""
        operation = operation_at(self._scene.image, self.pc)
        if operation is None:
            return False
        self.pc += operation.size
        name, operands = operation.mnemonic.rpartition(" ")[2], operation.operands
        if name in _NOTHING:
            return True
        if operation.flow != "next":
            return self._went(operation, name, operands)
        if name == "leave":
            self._set_register(self._sp, self.registers.get(self._fp))
            self._set_register(self._fp, self._pop())
            return True
        if len(operands) == 1:
            if name == "push":
                return self._push(self._value(operation, operands[0]))
            return name == "pop" and self._set(operation, operands[0], self._pop())
        return len(operands) == 2 and self._moved(operation, name, *operands)

    def _set_register(self, name: str, value: int | None) -> None:
        whole, size = whole_register(name, self._word)
        self.registers.pop(whole, None)
        if value is not None and size >= 4:  # the upper half becomes zero
            self.registers[whole] = value & ((1 << 8 * size) - 1)

    def _register(self, name: str) -> int | None:
        whole, size = whole_register(name, self._word)
        value = self.registers.get(whole) if size else None
        return None if value is None else value & ((1 << 8 * size) - 1)

    def _moved(self, operation: Operation, name: str, to: Operand, source: Operand) -> bool:
        if name == "lea":
            return self._set(operation, to, self._address(operation, source))
        value = self._value(operation, source)
        if name == "mov":
            return self._set(operation, to, value)
        if name in ("test", "cmp"):
            other = self._value(operation, to)
            mask = (1 << 8 * (to.size or self._word)) - 1
            self._is_zero = None
            if value is not None and other is not None:
                left, right = other & mask, value & mask
                self._is_zero = not left & right if name == "test" else left == right
            return True
        if name in _TAKEN and name.startswith("cmov"):
            if self._is_zero is None:
                return self._set(operation, to, None)
            return self._is_zero is not _TAKEN[name] or self._set(operation, to, value)
        if name not in ("add", "sub"):
            return False
        self._is_zero = None
        before = self._value(operation, to)
        if value is None or before is None:
            return self._set(operation, to, None)
        total = before + value if name == "add" else before - value
        return self._set(operation, to, self._scene.image.wrapped(total))

    def _went(self, operation: Operation, name: str, operands: list[Operand]) -> bool:
        """A jump, a call or a return."""
        if operation.flow == "leave":
            target = self._pop() if name == "ret" and not operands else None
        else:
            if name in _TAKEN and self._is_zero is not None:
                if self._is_zero is not _TAKEN[name]:
                    return True
                name = "jmp"
            if name not in ("jmp", "call") or len(operands) != 1:
                return False
            target = self._value(operation, operands[0])
            if name == "call" and not self._push(self.pc):
                return False
            if target is not None and self._asks_for_thread(target):
                self._set_register(self.result, self._thread_local(target))
                target = self._pop()
        self.pc = target or 0
        return target == _RETURN or (target is not None and self._scene.is_known_code(target))

    def _asks_for_thread(self, target: int) -> bool:
        """Whether that is the loader's function for variables of threads."""
        symbol = self._scene.image.native.symbol_at(target) if self._word == 8 else None
        return symbol == ("__tls_get_addr", 0)

    def _thread_local(self, loader: int) -> int | None:
        """What it returns: the argument is the address of a module's number and a distance, and the
        thread has a vector of where the modules' variables lie: in glibc of two words each.
        """
        image, argument = self._scene.image, self.registers.get("rdi")
        if argument is None or self._thread is None:
            return None
        module, distance = image.word_at(argument), image.word_at(argument + 8)
        vector = image.word_at(self._thread + 8)
        if vector is None or distance is None or not 0 < (module or 0) < _MOST_MODULES:
            return None
        path = (self._scene.mapping_at(loader) or (0, 0, "", ""))[3]
        size = 8 if "musl" in path else 16
        begin = image.word_at(vector + size * (module or 0))
        return None if not begin or begin == image.wrapped(-1) else image.wrapped(begin + distance)

    @property
    def is_over(self) -> bool:
        return self.pc == _RETURN


def returned(scene: Scene, function: int, this: int | None = None) -> int | None:
    """What the function at an address returns, a member of the object `this` if that is one."""
    if scene.image.arch == "aarch64" and this is not None:
        return returned_aarch64(scene, function, this)
    if not is_x86(scene.image.arch) or not scene.is_known_code(function):
        return None
    call = _Call(scene, function, this)
    for _ in range(_MOST):
        if not call.step():
            return None
        if call.is_over:
            return call.registers.get(call.result)
    return None

"""What constants the code of a frame's function refers to, and hands over to what it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whocall.base.architecture import is_x86
from whocall.base.operations import MEMORY, NUMBER, REGISTER, Operand, Operation, operations
from whocall.report.causes.called import whole_register
from whocall.report.causes.scene import Scene
from whocall.report.causes.texts import c_text_at

_LARGEST = 1 << 14  # bytes of a function
_MOST = 4096  # instructions of it
_COUNTED_FROM = ("rip", "eip", "")  # registers that an address may be told by; none


def code_of(scene: Scene, level: int) -> list[Operation]:
    """The instructions of the frame's function."""
    if level not in scene.decoded:
        scene.decoded[level] = _decode(scene, level)
    return scene.decoded[level]


def _decode(scene: Scene, level: int) -> list[Operation]:
    frame = scene.frame(level)
    if frame is None or frame.offset is None or frame.inlined or not 0 <= frame.offset < _LARGEST:
        return []
    at = frame.pc if frame.interrupted or not level else frame.pc - 1
    size = scene.image.native.describe(at, lines=False, refused=False).size or frame.offset
    return operations(scene.image, frame.pc - frame.offset, min(size, _LARGEST), _MOST)


_ARGUMENTS = {"x86_64": ("rdi", "rsi", "rdx", "rcx"), "aarch64": ("x0", "x1", "x2", "x3")}
_ARGUMENTS_OF_GO = {**_ARGUMENTS, "x86_64": ("rax", "rbx")}


def _calls(operation: Operation) -> bool:
    """Capstone takes AArch64's `bl` for a jump."""
    return operation.flow == "call" or operation.mnemonic in ("bl", "blr")


def _block(code: Sequence[Operation], return_address: int) -> Sequence[Operation]:
    """The instructions that ran one by one before the call that returns there, the call left out;
    nothing else leads into the midst of them.
    """
    end = next(
        (at for at, each in enumerate(code) if each.address + each.size == return_address), 0
    )
    if not end or not _calls(code[end]):
        return ()
    targets = {
        operand.value
        for each in code
        if each.flow == "jump" and not _calls(each)
        for operand in each.operands
        if operand.kind == NUMBER
    }
    begin = end
    while begin and code[begin].address not in targets:
        before = code[begin - 1]
        if before.flow != "next" or before.address + before.size != code[begin].address:
            break
        begin -= 1
    return code[begin:end]


# What changes no other register than its first operand.
_PLAIN = frozenset("mov movz lea adrp add sub and or xor cmp test nop push str stp".split())  # noqa: SIM905


def handed_over(scene: Scene, level: int, go: bool = False) -> list[int | None]:
    """The first arguments of the call that the frame at a level has made, as far as its code makes
    them constants, whatever led there; as Go's functions take them, or as C's.
    """
    frame = scene.frame(level)
    names = (_ARGUMENTS_OF_GO if go else _ARGUMENTS).get(scene.image.arch, ())
    found: dict[str, int] = {}
    for operation in _block(code_of(scene, level), 0 if frame is None else frame.pc):
        operands = operation.operands
        if operation.mnemonic not in _PLAIN:
            found.clear()
        elif operands and operands[0].kind == REGISTER:
            value = _constant(scene, operation, found)
            register = _whole(scene, operands[0])
            found.pop(register, None)
            if value is not None:
                found[register] = value
    return [found.get(each) for each in names]


def _whole(scene: Scene, operand: Operand) -> str:
    """The register that one is, or is a part of."""
    name = operand.register
    if is_x86(scene.image.arch):
        return whole_register(name, scene.image.word_size)[0]
    return f"x{name[1:]}" if name[:1] == "w" and name[1:].isdigit() else name


def _constant(scene: Scene, operation: Operation, found: Mapping[str, int]) -> int | None:
    """What an instruction puts into its first operand, a register."""
    name, operands = operation.mnemonic, operation.operands
    last = operands[-1]
    if is_x86(scene.image.arch) and whole_register(operands[0].register, 8)[1] < 4:
        return None  # the rest of the register stays
    if name in ("mov", "movz", "adrp") and len(operands) == 2 and last.kind == NUMBER:
        return last.value
    if name == "mov" and last.kind == REGISTER and last.register == _whole(scene, last):
        return found.get(last.register)
    if name == "lea" and last.kind == MEMORY and last.register in _COUNTED_FROM:
        from_here = operation.address + operation.size if last.register else 0
        return last.value + from_here if not last.indexed else None
    if name == "add" and len(operands) == 3 and last.kind == NUMBER:
        base = found.get(_whole(scene, operands[1]))
        return None if base is None else base + last.value
    if name == "xor" and operands[0] == last:
        return 0
    return None


def handed_texts(scene: Scene, level: int) -> list[str | None]:
    """The same, as texts that are part of the program."""
    return [
        c_text_at(scene.image, each) if each is not None and scene.is_constant(each) else None
        for each in handed_over(scene, level)
    ]


def call_made(scene: Scene, level: int) -> Operation | None:
    """The call that the frame at a level has made, by its code."""
    frame = scene.frame(level)
    pc = 0 if frame is None else frame.pc
    calls = (each for each in code_of(scene, level) if each.address + each.size == pc)
    return next((each for each in calls if _calls(each)), None)


def caller_of(scene: Scene, level: int) -> int | None:
    """The level of the frame that called the one at a level, which is not inlined."""
    above = enumerate(scene.trace.frames[level + 1 : level + 16], level + 1)
    return next((at for at, frame in above if not frame.inlined), None)


def refers_to(scene: Scene, level: int, wanted: Sequence[bytes]) -> bytes | None:
    """The first of the texts that the function at a level refers to, as the beginning of a
    constant.
    """
    found = scene.native.referred_text(level, wanted)
    return None if found is None else wanted[found]

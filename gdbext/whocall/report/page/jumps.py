"""Control that went to where no code is: by a call, by a return, or by a jump."""

from __future__ import annotations

from whocall.report.page.faults import KERNEL, is_x86
from whocall.report.page.scene import NEAR_NULL, Fact, Scene, named

_LONGEST = 16  # bytes of an instruction: its fetch may fault behind its first byte
_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGILL")


def _word_text(value: int, size: int, byte_order: str) -> str:
    """`"AAAAAAAA"` for a word that is text, else nothing."""
    raw = value.to_bytes(size, "big" if byte_order == "big" else "little")
    return f' (the text "{raw.decode("ascii")}")' if all(0x20 <= b < 0x7F for b in raw) else ""


def _described(scene: Scene, pc: int) -> str:
    mapping = scene.mapping_at(pc)
    if mapping is not None:
        what = mapping[3] or "memory without a file"
        known = "" if "x" in mapping[2] else f" ({mapping[2]})"  # else it only might have been
        return f"{pc:#x}, in {what}{known}, which is not executable"
    if pc < NEAR_NULL:
        return "address 0" if pc == 0 else f"{pc:#x}, close to null"
    text = _word_text(pc, scene.image.pointer_size, scene.image.byte_order)
    return f"{pc:#x}{text}, where no code is"


def _called(scene: Scene) -> str | None:
    """Where the return address of a call is that has just led to pc; None where none has."""
    caller, kept = scene.frame(1), scene.return_address_of_call
    if caller is None or kept is None or caller.pc != kept[0] or caller.trust == "scan":
        return None
    return kept[1] if scene.may_have_called(kept[0], scene.pc) else None


def _returned(scene: Scene) -> tuple[bool | None, str]:
    """Whether a return led to pc, and where it took that from; None where that is not known.

    A zero below the stack pointer proves nothing: fresh stack is full of them.
    """
    pc, size = scene.pc, scene.image.word_size
    if scene.link_register == pc:
        return True, "the link register, from which a return takes it, is the same"
    if not scene.returns_by_stack:
        return (None if scene.link_register is None else False), ""
    # i386's functions that return a structure take its address off the stack too (`ret 4`).
    places = [scene.sp - size, scene.sp - 2 * size] if scene.image.arch == "i386" else [
        scene.sp - size
    ]  # fmt: skip
    for place in places:
        below = scene.image.word_at(place)
        if below is not None and scene.without_mode(below) == pc:
            told = f"the word that a return has just taken off the stack at {place:#x}"
            return (True, told) if pc >= NEAR_NULL else (None, "")
    return (False if scene.image.arch in ("x86_64", "x32") else None), ""


def jump_to_no_code(scene: Scene) -> Fact | None:
    """pc stands where no code is: a call of a pointer that leads nowhere, or a return."""
    pc, fault = scene.pc, scene.fault
    if scene.signal not in _SIGNALS or scene.was_sent or not scene.is_nowhere:
        return None
    if not scene.trace.frames or (fault is not None and not -_LONGEST < fault - pc < _LONGEST):
        return None
    where, null = _described(scene, pc), pc < NEAR_NULL and scene.mapping_at(pc) is None
    place = _called(scene)
    pointer = ", a null function pointer" if pc == 0 and null else ""
    caller = scene.frame(1)
    if place is not None and caller is not None:
        return Fact(
            "null-call" if null else "wild-call",
            f"{named(caller)} called {where}{pointer}",
            f"the program counter is {pc:#x}, and the return address of that call is in {place}",
        )
    returned, proof = _returned(scene)
    if returned:
        why = "was overwritten" + (", or it had none" if null else "")
        return Fact(
            "smashed-return",
            f"a function returned to {where}: its return address {why}",
            f"the program counter is {pc:#x}, and {proof}"
            if null or scene.link_register == pc
            else f"the program counter is {pc:#x}, {proof}",
        )
    if returned is None:
        pointer = ", by a pointer to a function or by a return" if null else ""
    return Fact("wild-jump", f"control went to {where}{pointer}", f"the program counter is {pc:#x}")


def return_to_no_code(scene: Scene) -> Fact | None:
    """x86-64's return faults itself where its address is one that no pointer can have."""
    text = scene.instruction or ""
    if not is_x86(scene.image.arch) or text.removeprefix("bnd ").split(" ")[0] != "ret":
        return None
    if scene.signal not in _SIGNALS or scene.code not in (KERNEL, None):
        return None
    word = scene.image.word_at(scene.sp)
    if word is None or scene.is_canonical(word):
        return None
    shown = _word_text(word, scene.image.word_size, scene.image.byte_order)
    frame = scene.frame(0)
    where = named(frame) if frame is not None else "the function"
    return Fact(
        "smashed-return",
        f"{where} was to return to {word:#x}{shown}, where no code is: its return address was "
        "overwritten",
        f"the instruction is `{text}`, and the word at the stack pointer, {scene.sp:#x}, is that",
    )

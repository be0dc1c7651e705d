"""What led to a crash, as far as the core proves it: each cause is a function of the scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from whocall.report.backtrace.cycles import gaps
from whocall.report.page.faults import KERNEL, meaning, tells_sender
from whocall.report.page.messages import messages
from whocall.report.page.scene import Fact, Scene, named

NEAR_NULL = 4096  # bytes: the first page, which Linux maps for nobody
BELOW_STACK = 1 << 16  # bytes below the stack pointer that a function's entry may touch at once


def _word_text(value: int, size: int, byte_order: str) -> str:
    """`"AAAAAAAA"` for a word that is text, else nothing."""
    raw = value.to_bytes(size, "big" if byte_order == "big" else "little")
    return f' (the text "{raw.decode("ascii")}")' if all(0x20 <= b < 0x7F for b in raw) else ""


def jump_to_no_code(scene: Scene) -> Fact | None:
    """pc stands where no code is: a call of a pointer that leads nowhere, or a return."""
    pc = scene.pc
    if scene.is_code(pc) or not scene.trace.frames:
        return None
    if pc < NEAR_NULL and scene.mapping_at(pc) is None:
        where = "address 0, a null function pointer" if pc == 0 else f"{pc:#x}, close to null"
    else:
        text = _word_text(pc, scene.image.pointer_size, scene.image.byte_order)
        where = f"{pc:#x}{text}, where no code is"
    caller = scene.frame(1)
    kept = scene.return_address_of_call
    called = kept is not None and scene.may_have_called(kept[0], pc)
    if caller is not None and kept and called and caller.pc == kept[0] and caller.trust != "scan":
        kind = "null-call" if pc < NEAR_NULL else "wild-call"
        return Fact(
            kind,
            f"{named(caller)} called {where}",
            f"the program counter is {pc:#x}, and the return address of that call is in {kept[1]}",
        )
    below = scene.image.word_at(scene.sp - scene.image.word_size)
    taken = below is not None and scene.without_mode(below) == pc
    if taken and pc >= NEAR_NULL and scene.returns_by_stack:
        return Fact(
            "smashed-return",
            f"a function returned to {where}: its return address was overwritten",
            f"the program counter is {pc:#x}, the word that a return has just taken off the stack "
            f"at {scene.sp - scene.image.word_size:#x}",
        )
    return Fact("wild-jump", f"control went to {where}", f"the program counter is {pc:#x}")


def return_to_no_code(scene: Scene) -> Fact | None:
    """A return instruction faults itself where its address cannot be one (x86)."""
    text = scene.instruction or ""
    if text.split(" ")[0] not in ("ret", "retq", "retl", "retf", "bnd ret"):
        return None
    word = scene.image.word_at(scene.sp)
    if word is None or scene.is_code(word):
        return None
    shown = _word_text(word, scene.image.pointer_size, scene.image.byte_order)
    frame = scene.frame(0)
    where = named(frame) if frame is not None else "the function"
    return Fact(
        "smashed-return",
        f"{where} was to return to {word:#x}{shown}, where no code is: its return address was "
        "overwritten",
        f"the instruction is `{text}`, and the word at the stack pointer, {scene.sp:#x}, is that",
    )


def stack_overflow(scene: Scene) -> Fact | None:
    """The fault lies right below the thread's stack, which reaches down to there."""
    fault = scene.fault
    if scene.signal not in ("SIGSEGV", "SIGBUS") or fault is None:
        return None
    if not scene.sp - BELOW_STACK <= fault < scene.sp + NEAR_NULL:
        return None
    hit = scene.mapping_at(fault)
    if hit is not None and "w" in hit[2]:
        return None
    held = next((f.cfa for f in scene.trace.frames[:8] if f.cfa and scene.mapping_at(f.cfa)), None)
    stack = None if held is None else scene.mapping_at(held)
    if stack is None or not 0 <= stack[0] - fault <= BELOW_STACK or "w" not in stack[2]:
        return None
    runs = max(gaps(scene.trace.frames), key=lambda gap: gap.end - gap.begin, default=None)
    total = len(scene.trace.frames)
    text = f"the stack overflowed: {_size(stack[1] - stack[0])} are used up by {total:,} frames"
    if runs is not None:
        cycle = scene.trace.frames[runs.begin - runs.period : runs.begin]
        names = list(dict.fromkeys(frame.shown for frame in cycle))
        many = f" and {len(names) - 3} more" if len(names) > 3 else ""
        text += f", {runs.end - runs.begin + runs.period:,} of them a recursion of "
        text += ", ".join(names[:3]) + many
    return Fact(
        "stack-overflow",
        text,
        f"the fault's address {fault:#x} lies just below the stack, which begins at {stack[0]:#x}, "
        f"and the stack pointer is {scene.sp:#x}",
    )


def _size(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def null_access(scene: Scene) -> Fact | None:
    """The fault's address is in the first page."""
    fault = scene.fault
    if fault is None or fault >= NEAR_NULL or not scene.is_code(scene.pc):
        return None
    if fault == 0:
        text = "it followed a null pointer"
    else:
        text = f"it accessed {fault:#x}, {fault} bytes from null, as by a member of a null pointer"
    return Fact("null-access", text, _instruction_proof(scene, fault))


def _instruction_proof(scene: Scene, fault: int) -> str:
    told = f"the kernel gives {fault:#x} as the fault's address"
    return f"{told}; the instruction is `{scene.instruction}`" if scene.instruction else told


def fault(scene: Scene) -> Fact | None:
    """What the kernel says of the fault."""
    told = None if scene.code is None else meaning(scene.signal, scene.code)
    if told is None or scene.code is None:
        return None
    address = scene.fault
    proof = f"the kernel's si_code is {scene.code}"
    if address is None:
        text = told
        if scene.code == KERNEL and scene.instruction:
            text = f"`{scene.instruction}` faulted; {told}"
        return Fact("fault", text, proof)
    mapping = scene.mapping_at(address)
    where = (
        f"; that is in {mapping[3] or 'memory without a file'} ({mapping[2]})" if mapping else ""
    )
    return Fact("fault", f"it accessed {address:#x}: {told}{where}", proof)


def sent(scene: Scene) -> Fact | None:
    """Another process, or the program itself, sent the signal."""
    if scene.code is None or not tells_sender(scene.code) or not scene.sender:
        return None
    own = scene.image.native.pid
    if scene.sender == own:
        level = scene.level_of("abort", "__GI_abort")
        if scene.signal == "SIGABRT" and level is not None:
            return Fact(
                "abort",
                "abort() was called",
                f"#{level} is abort, and the process sent itself the signal",
            )
        text = f"the program sent {scene.signal} to itself"
    else:
        text = f"process {scene.sender} sent the signal"
    return Fact("sent", text, f"the kernel's si_code is {scene.code}, with that sender")


def trap(scene: Scene) -> Fact | None:
    """An instruction that compilers put where control must not arrive."""
    text = (scene.instruction or "").split(" ")[0]
    if scene.signal in ("SIGILL", "SIGTRAP") and text in ("ud2", "int3", "brk", "udf", "ud1"):
        return Fact(
            "trap",
            f"it ran into `{scene.instruction}`, which compilers put where control must not come "
            "(a failed check, `__builtin_trap`, `unreachable`)",
            "the bytes at the program counter are that instruction",
        )
    return None


def terminate(scene: Scene) -> Fact | None:
    """C++'s end by an exception."""
    end = scene.level_of("std::terminate()", "__cxxabiv1::__terminate(void (*)())")
    if end is None:
        return None
    throw = scene.level_of("__cxa_throw")
    above = () if throw is None or throw < end else scene.trace.frames[throw + 1 : throw + 16]
    thrower = next((frame for frame in above if "libstdc++" not in (frame.module or "")), None)
    if thrower is not None:
        text = f"an exception that {named(thrower)} threw was not caught"
        return Fact("exception", text, f"#{throw} is __cxa_throw and #{end} std::terminate()")
    return Fact("exception", "std::terminate() was called", f"#{end} is std::terminate()")


CAUSES: Sequence[Callable[[Scene], Fact | None]] = (
    jump_to_no_code,
    return_to_no_code,
    stack_overflow,
    trap,
    null_access,
    fault,
    terminate,
    sent,
)


# A closer look says the same and more.
_TOLD_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("assertion", "abort-message", "panic", "exception"), ("abort", "sent")),
    "stack-smashing": ("abort", "sent"),
    **dict.fromkeys(
        ("null-access", "null-call", "smashed-return", "stack-overflow", "trap"), ("fault",)
    ),
}


def causes(scene: Scene) -> list[Fact]:
    """All that is known, the most telling first."""
    found = [*messages(scene), *(fact for cause in CAUSES if (fact := cause(scene)) is not None)]
    kinds = {fact.kind for fact in found}
    told = set().union(*(_TOLD_BY.get(kind, ()) for kind in kinds))
    return [fact for fact in found if fact.kind not in told]

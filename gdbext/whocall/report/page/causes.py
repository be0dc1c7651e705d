"""What led to a crash, as far as the core proves it: each cause is a function of the scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from whocall.report.page.cxx_exception import terminate
from whocall.report.page.faults import DIVISION, KERNEL, is_x86
from whocall.report.page.jumps import jump_to_no_code, return_to_no_code
from whocall.report.page.messages import messages
from whocall.report.page.scene import NEAR_NULL, Fact, Scene
from whocall.report.page.stack_end import stack_overflow
from whocall.report.tables.waits import deadlocks


def null_access(scene: Scene) -> Fact | None:
    """The fault's address is in the first page."""
    fault = scene.fault
    if fault is None or fault >= NEAR_NULL or not scene.is_code(scene.pc):
        return None
    if fault == 0:
        text = "it followed a null pointer"
    else:
        text = f"it accessed {fault:#x}, {fault} bytes from null, as by a member of a null pointer"
    return Fact("null-access", text, scene.proof_of_fault)


def fault(scene: Scene) -> Fact | None:
    """What the kernel says of the fault, or, where no si_code is told, what its own address and the
    map of the memory say.
    """
    if scene.code is None:
        return _unexplained(scene)
    told = _divided(scene) or scene.meaning
    if told is None:
        return None
    address = scene.fault
    proof = f"the kernel's si_code is {scene.code}"
    if address is None:
        text = told
        if scene.code == KERNEL and scene.instruction:
            text = _untold(scene) or f"`{scene.instruction}` faulted; {told}"
        return Fact("fault", text, proof)
    return Fact("fault", f"it accessed {address:#x}: {told}{_where(scene, address)}", proof)


def _where(scene: Scene, address: int) -> str:
    mapping = scene.mapping_at(address)
    if mapping is None:
        return ""
    known = f" ({mapping[2]})" if scene.knows_protection(address) else ""
    return f"; that is in {mapping[3] or 'memory without a file'}{known}"


def _unexplained(scene: Scene) -> Fact | None:
    """A fault of which no si_code is told: only what the instruction and the registers show."""
    if scene.signal == "SIGFPE":
        divided = _divided(scene)
        if divided is None or scene.operand != 0:
            return None
        return Fact("fault", divided, f"the instruction is `{scene.instruction}`, and that is 0")
    if scene.signal not in ("SIGSEGV", "SIGBUS") or scene.was_sent:
        return None
    address = scene.fault
    if address is not None:
        return Fact(
            "fault", f"it accessed {address:#x}{_where(scene, address)}", scene.proof_of_fault
        )
    untold = _untold(scene)
    if untold is None:
        return None
    return Fact("fault", untold, "the registers and the instruction tell the address")


# Of those with operands in memory, the ones that need them aligned by their size.
_ALIGNED = ("movap", "movdqa", "movnt", "vmovap", "vmovdqa", "vmovnt")


def _untold(scene: Scene) -> str | None:
    """Why x86 has no address to tell, where the instruction and the registers do."""
    address, size = (is_x86(scene.image.arch) and scene.accessed) or (0, 0)
    if not scene.is_canonical(address):
        return f"`{scene.instruction}` accessed {address:#x}, which no pointer can be"
    if size > 8 and address % size and (scene.instruction or "").startswith(_ALIGNED):
        needed = f"not a multiple of {size} as it has to be"
        return f"`{scene.instruction}` accessed {address:#x}, which is {needed}"
    return None


def _divided(scene: Scene) -> str | None:
    """Which of two faults of a division that x86 does not tell apart, where the divisor does."""
    if not is_x86(scene.image.arch) or scene.signal != "SIGFPE":
        return None
    if scene.code not in (DIVISION, None):
        return None
    if not (scene.instruction or "").startswith(("div ", "idiv ")):
        return None
    divisor = scene.operand
    if divisor is None:
        return None
    if divisor == 0:
        return "an integer was divided by zero"
    return f"the quotient of a division by {divisor:#x} has no room"


def sent(scene: Scene) -> Fact | None:
    """Another process, or the program itself, sent the signal."""
    level = scene.level_of("abort", "__GI_abort")
    gave_up = scene.signal == "SIGABRT" and level is not None
    if not scene.was_sent and not (gave_up and scene.code is None):
        return None
    proof = f"the kernel's si_code is {scene.code}, with that sender"
    if scene.code is None:
        proof = "the dump gives the process itself as the sender"
    if scene.sender is None and not gave_up:
        return Fact(
            "sent",
            "the signal was sent, by a process that the dump does not name",
            f"the kernel's si_code is {scene.code}",
        )
    if scene.sender == 0:
        return Fact(
            "sent",
            "a process sent the signal whose number is not known here, as of another container",
            f"the kernel's si_code is {scene.code}, and the sender's number is 0",
        )
    if scene.sent_by_another:
        return Fact("sent", f"process {scene.sender} sent the signal", proof)
    if gave_up:
        how = "the process sent itself the signal" if scene.sender else "the signal is SIGABRT"
        return Fact("abort", "abort() was called", f"#{level} is abort, and {how}")
    return Fact("sent", f"the program sent {scene.signal} to itself", proof)


_TRAPS = {"SIGILL": ("ud0", "ud1", "ud2", "udf"), "SIGTRAP": ("brk",)}
_INT3 = b"\xcc"


def trap(scene: Scene) -> Fact | None:
    """An instruction that compilers put where control must not arrive."""
    if scene.was_sent:
        return None
    if (scene.instruction or "").split(" ")[0] in _TRAPS.get(scene.signal or "", ()):
        return Fact(
            "trap",
            f"it ran into `{scene.instruction}`, which compilers put where control must not come "
            "(a failed check, `__builtin_trap`, `unreachable`)",
            "the bytes at the program counter are that instruction",
        )
    # x86 tells of this one when it is done; what follows it may be `ud2`, which was not reached.
    on_x86 = scene.signal == "SIGTRAP" and is_x86(scene.image.arch)
    if on_x86 and scene.image.read(scene.pc - 1, 1) == _INT3:
        return Fact(
            "trap",
            "it ran into `int3`, a breakpoint of a debugger's or the program's own",
            "the byte in front of the program counter is that instruction",
        )
    return None


def deadlock(scene: Scene) -> Fact | None:
    """Somebody ended the program, and threads of it wait for each other."""
    if len(scene.image.threads) < 2 or sent(scene) is None:
        return None
    found = deadlocks(scene.image)
    if not found:
        return None
    proof = "the locks' memory names their owners, and none of these waits has a limit in time"
    return Fact("deadlock", found[0][:1].lower() + found[0][1:].rstrip("."), proof)


CAUSES: Sequence[Callable[[Scene], Fact | None]] = (
    jump_to_no_code,
    return_to_no_code,
    stack_overflow,
    trap,
    null_access,
    fault,
    terminate,
    deadlock,
    sent,
)


# A closer look says the same and more.
_TOLD_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys(
        ("assertion", "abort-message", "panic", "exception", "fatal-error"), ("abort", "sent")
    ),
    "stack-smashing": ("abort", "sent"),
    "stack-overflow": ("fault", "abort", "sent"),
    **dict.fromkeys(
        (
            "null-access",
            "null-call",
            "wild-call",
            "wild-jump",
            "smashed-return",
            "trap",
        ),
        ("fault",),
    ),
}


def causes(scene: Scene) -> list[Fact]:
    """All that is known, the most telling first."""
    found = [*messages(scene), *(fact for cause in CAUSES if (fact := cause(scene)) is not None)]
    kinds = {fact.kind for fact in found}
    told = set().union(*(_TOLD_BY.get(kind, ()) for kind in kinds))
    return [fact for fact in found if fact.kind not in told]

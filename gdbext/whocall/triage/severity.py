"""How bad a crash may be, in the words that CASR (github.com/ispras/casr) uses, as far as a core
shows it.

A core holds one moment: the signal, its address and the instruction. Nothing here follows where a
value came from, so no class speaks of taint; and a class says what may be, not that it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.report.page.stack_end import used_up
from whocall.triage.code import disassembler

if TYPE_CHECKING:
    from typing import Any

    from whocall.report.page.scene import Scene

FORM = 2  # counts up whenever a crash gets another class
EXPLOITABLE = "EXPLOITABLE"
PROBABLY = "PROBABLY_EXPLOITABLE"
NOT = "NOT_EXPLOITABLE"
UNDEFINED = "UNDEFINED"
SEVERITIES = (EXPLOITABLE, PROBABLY, NOT, UNDEFINED)  # worst first
NEAR_NULL = 64 << 10  # bytes

# By the short description: how bad, and a sentence.
CLASSES = {
    "SegFaultOnPc": (EXPLOITABLE, "the program counter itself is a bad address"),
    "ReturnAv": (EXPLOITABLE, "a return instruction faulted: the stack may be overwritten"),
    "BranchAv": (EXPLOITABLE, "a jump to a computed address faulted"),
    "CallAv": (EXPLOITABLE, "a call of a computed address faulted"),
    "DestAv": (EXPLOITABLE, "a write to a bad address"),
    "BadInstruction": (PROBABLY, "bytes that are no instruction, or a forbidden one, were run"),
    "SegFaultOnPcNearNull": (PROBABLY, "the program counter is near NULL: a missing function"),
    "BranchAvNearNull": (PROBABLY, "a jump through a pointer near NULL faulted"),
    "CallAvNearNull": (PROBABLY, "a call through a pointer near NULL faulted"),
    "DestAvNearNull": (PROBABLY, "a write near NULL"),
    "StackGuard": (PROBABLY, "the guard of a stack frame was overwritten"),
    "HeapError": (PROBABLY, "the allocator found its heap damaged"),
    "AbortSignal": (NOT, "the program gave up by abort()"),
    "TrapSignal": (NOT, "a trap for a debugger"),
    "AccessViolation": (NOT, "an access to a bad address, of which no more is known"),
    "SourceAv": (NOT, "a read from a bad address"),
    "SourceAvNearNull": (NOT, "a read near NULL"),
    "SafeFunctionCheck": (NOT, "a checked function of the C library refused its arguments"),
    "FPE": (NOT, "an arithmetic exception"),
    "StackOverflow": (NOT, "the stack is used up"),
    "Undefined": (UNDEFINED, "no class fits, as where another process sent the signal"),
}


def classify(scene: Scene, functions: set[str]) -> str:
    """The key of CLASSES of a thread that crashed; `functions` are the plain names on its stack."""
    if scene.sent_by_another:  # no instruction of this program is to blame
        return "Undefined"
    if scene.signal == "SIGABRT":
        return _aborted(functions)
    if scene.code is not None and scene.code <= 0:  # raise(), or a timer
        return "Undefined"
    if scene.signal in ("SIGILL", "SIGSYS"):
        return "BadInstruction"
    if scene.signal == "SIGTRAP":
        return "TrapSignal"
    if scene.signal == "SIGFPE":
        return "FPE"
    return _accessed(scene) if scene.signal in ("SIGSEGV", "SIGBUS") else "Undefined"


def _aborted(functions: set[str]) -> str:
    if functions & {"stack_chk_fail", "__stack_chk_fail", "__stack_chk_fail_local"}:
        return "StackGuard"
    if functions & {"__chk_fail", "chk_fail"}:
        return "SafeFunctionCheck"
    if functions & {"free", "cfree", "malloc", "realloc", "calloc", "malloc_printerr"}:
        return "HeapError"
    return "AbortSignal"


def _accessed(scene: Scene) -> str:
    near = scene.fault is not None and scene.fault < NEAR_NULL
    if scene.signal == "SIGSEGV" and scene.fault == scene.pc:
        return "SegFaultOnPcNearNull" if near else "SegFaultOnPc"
    code = scene.image.read(scene.pc, 16)
    if not code:
        return "SegFaultOnPcNearNull" if scene.pc < NEAR_NULL else "SegFaultOnPc"
    if used_up(scene) is not None:
        return "StackOverflow"
    machine = disassembler(scene.image.arch)
    instruction = next(machine.disasm(code, scene.pc, 1), None) if machine is not None else None
    if instruction is None or instruction.id == 0:
        return "AccessViolation"
    return _by_instruction(instruction, near)


def _by_instruction(instruction: Any, near: bool) -> str:
    import capstone as cs

    suffix = "NearNull" if near else ""
    if instruction.group(cs.CS_GRP_RET):
        return "ReturnAv"
    if instruction.group(cs.CS_GRP_CALL):
        return f"CallAv{suffix}"
    if instruction.group(cs.CS_GRP_JUMP):
        return f"BranchAv{suffix}"
    for number, operand in enumerate(instruction.operands):
        if operand.type == cs.CS_OP_MEM:
            written = _writes(instruction, operand, number)
            if written is not None:
                return ("DestAv" if written else "SourceAv") + suffix
    if instruction.mnemonic.startswith(("push", "st")):
        return f"DestAv{suffix}"
    return "AccessViolation"


def _writes(instruction: Any, operand: Any, number: int) -> bool | None:
    """Whether the operand of this number is written; None where nobody knows."""
    access = getattr(operand, "access", 0)  # capstone tells reading (1) and writing (2), mostly
    if access:
        return bool(access & 2)
    name = instruction.mnemonic
    if name.startswith(("ld", "cmp", "test", "vp", "vmovdqu")) and number > 0:
        return False
    return True if name.startswith("st") else None

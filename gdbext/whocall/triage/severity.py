"""How bad a crash may be, in the words that CASR (github.com/ispras/casr) uses, as far as a core
shows it.

A core holds one moment: the signal, its address and the instruction. Nothing here follows where a
value came from, so no class speaks of taint; and a class says what may be, not that it is. Where
nothing shows what happened, as without the crashing instruction, the class is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.operations import MEMORY, REGISTER

if TYPE_CHECKING:
    from whocall.base.operations import Operation
    from whocall.report.causes.scene import Scene

FORM = 3  # counts up whenever a crash gets another class
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
    "SourceAv": (NOT, "a read from a bad address"),
    "SourceAvNearNull": (NOT, "a read near NULL"),
    "SafeFunctionCheck": (NOT, "a checked function of the C library refused its arguments"),
    "FPE": (NOT, "an arithmetic exception"),
    "StackOverflow": (NOT, "the stack is used up"),
    "AccessViolation": (UNDEFINED, "an access to a bad address, of which no more is known"),
    "Undefined": (UNDEFINED, "no class fits, as where another process sent the signal"),
}


def classify(scene: Scene, functions: set[str]) -> str:
    """The key of CLASSES of a thread that crashed; `functions` are the plain names on its stack."""
    if scene.sent_by_another:  # no instruction of this program is to blame
        return "Undefined"
    if scene.signal == "SIGABRT":
        return _aborted(functions)
    if scene.was_sent or (scene.code is not None and scene.code <= 0):  # raise(), or a timer
        return "Undefined"
    if scene.signal in ("SIGSEGV", "SIGBUS"):
        return _accessed(scene)
    return _trapped(scene)


def _trapped(scene: Scene) -> str:
    """Of a signal by which the processor refuses an instruction. Without its si_code it may have
    been sent: there the instruction has to show it.
    """
    told = scene.code is not None
    name = scene.operation.mnemonic if scene.operation is not None else ""
    if scene.signal in ("SIGILL", "SIGSYS"):
        return "BadInstruction" if told or name.startswith("ud") else "Undefined"
    if scene.signal == "SIGTRAP":
        return "TrapSignal" if told or name.startswith(("brk", "bkpt")) else "Undefined"
    if scene.signal == "SIGFPE":
        divided = name in ("div", "idiv") and scene.operand == 0
        return "FPE" if told or divided else "Undefined"
    return "Undefined"


# Of what leads to SIGABRT one has a name where those that complain have theirs.
_GIVING_UP = frozenset(
    """
    abort raise gsignal __GI_abort __GI_raise pthread_kill __pthread_kill_implementation kill tgkill
    runtime.raise runtime.raiseproc runtime.dieFromSignal runtime.crash
    """.split()  # noqa: SIM905 - a table is easier to read so
)


def _aborted(functions: set[str]) -> str:
    if functions & {"stack_chk_fail", "__stack_chk_fail", "__stack_chk_fail_local"}:
        return "StackGuard"
    if functions & {"__chk_fail", "chk_fail"}:
        return "SafeFunctionCheck"
    if functions & {"free", "cfree", "malloc", "realloc", "calloc", "malloc_printerr"}:
        return "HeapError"
    return "AbortSignal" if functions & _GIVING_UP else "Undefined"  # nameless: it may be any


def _accessed(scene: Scene) -> str:
    fault = scene.fault
    near = fault is not None and fault < NEAR_NULL
    if scene.signal == "SIGSEGV" and fault is not None and fault == scene.pc:
        return "SegFaultOnPcNearNull" if near else "SegFaultOnPc"
    if scene.is_nowhere:
        return "SegFaultOnPcNearNull" if scene.pc < NEAR_NULL else "SegFaultOnPc"
    if scene.used_up_stack is not None:
        return "StackOverflow"
    if scene.operation is None or not _faulted(scene) or scene.may_be_used_up:
        return "AccessViolation"
    return _by_instruction(scene, scene.operation, "NearNull" if near else "")


def _faulted(scene: Scene) -> bool:
    """Whether it is shown that the instruction is to blame."""
    if scene.code is not None or scene.fault is not None:
        return True
    return any(not scene.is_canonical(access.address) for access in scene.accesses)


def _by_instruction(scene: Scene, operation: Operation, suffix: str) -> str:
    if operation.flow == "leave":
        return "ReturnAv"
    computed = any(each.kind in (MEMORY, REGISTER) for each in operation.operands)
    if operation.flow in ("call", "jump") and computed:
        return f"{'CallAv' if operation.flow == 'call' else 'BranchAv'}{suffix}"
    does = _does(scene)
    if does is None:
        return "AccessViolation"
    return ("DestAv" if does else "SourceAv") + suffix


def _does(scene: Scene) -> bool | None:
    """Whether the access that faulted writes; None where that is not shown."""
    fault = scene.fault
    hit = [
        access.written
        for access in scene.accesses
        if (
            0 <= fault - access.address < access.size
            if fault is not None
            else not scene.is_canonical(access.address)
        )
    ]
    if not hit:  # by a segment, say: what all its operands are for
        hit = scene.writes
    if any(hit):
        return True
    return False if hit and None not in hit else None

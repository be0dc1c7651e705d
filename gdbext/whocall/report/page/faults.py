"""What the kernel says of a signal beside its name: the meaning of si_code by signal."""

from __future__ import annotations

from whocall.core.architecture import is_of_family

FAULTS: dict[str, dict[int, str]] = {
    "SIGSEGV": {
        1: "nothing is mapped there",
        2: "the memory there does not allow it",
        3: "the bounds of the pointer forbid it",
        4: "the protection key of the memory forbids it",
        8: "a pointer's tag was another than its memory's, which was noticed later",
        9: "the pointer's tag is another than its memory's",
        10: "the shadow stack, or the marks of where jumps may lead to, forbid where control went",
    },
    "SIGBUS": {
        1: "the address is not aligned as the instruction needs it",
        2: "there is no memory behind the address, as where a mapped file was cut short",
        3: "the hardware reports an error of this memory",
        4: "the hardware reports that this memory is lost",
        5: "the hardware reports that this memory is damaged",
    },
    "SIGFPE": {
        1: "an integer was divided by zero",
        2: "an integer division overflowed",
        3: "a floating-point number was divided by zero",
        4: "a floating-point operation overflowed",
        5: "a floating-point operation underflowed",
        6: "a floating-point result is inexact",
        7: "a floating-point operation is invalid",
        8: "a subscript is out of range",
    },
    "SIGILL": {
        1: "the processor knows no such instruction",
        2: "the instruction has an operand that is none",
        3: "the instruction addresses what it cannot",
        4: "the instruction raised a trap",
        5: "the instruction is for the kernel alone",
        6: "the instruction touches a register of the kernel's",
    },
    "SIGSYS": {1: "a filter of system calls (seccomp) forbids the call"},
}

KERNEL = 0x80  # SI_KERNEL: x86 faults whose address the processor does not tell, and more
DIVISION = 1  # FPE_INTDIV
# Codes of faults without an address: si_addr is 0 there, which is no null pointer. An asynchronous
# tag check and a control protection fault come without; so does x86's alignment check.
_WITHOUT_ADDRESS = {"SIGSEGV": (8, 10)}
_WITHOUT_ON_X86 = {"SIGBUS": (1,)}


def is_x86(arch: str) -> bool:
    """Of 32 or of 64 bits."""
    return is_of_family(arch, "x86")


def meaning(arch: str, signal: str | None, code: int) -> str | None:
    """Half a sentence on a fault; None where the code says nothing of one."""
    if code == KERNEL and signal in ("SIGSEGV", "SIGBUS"):
        return (
            "the kernel tells no address (of a pointer that is none, an operand that is not "
            "aligned, an instruction for the kernel alone, a handler without a stack)"
        )
    # x86 raises one exception for both, and the kernel calls both FPE_INTDIV.
    if is_x86(arch) and signal == "SIGFPE" and code == DIVISION:
        return "an integer was divided by zero, or the quotient has no room"
    if is_x86(arch) and signal == "SIGILL" and code == 2:  # whatever is wrong with it
        return "the processor does not know the instruction, or must not run it"
    return FAULTS.get(signal or "", {}).get(code)


def tells_address(arch: str, signal: str | None, code: int) -> bool:
    """Whether the kernel knows what address the fault is about."""
    if signal not in ("SIGSEGV", "SIGBUS") or not 0 < code < KERNEL:
        return False
    on_x86 = is_x86(arch) and code in _WITHOUT_ON_X86.get(signal, ())
    return not on_x86 and code not in _WITHOUT_ADDRESS.get(signal, ())


def tells_sender(code: int) -> bool:
    """Whether a process sent the signal: kill(), tgkill(), sigqueue()."""
    return code in (0, -1, -6)

"""What the kernel says of a signal beside its name: the meaning of si_code by signal."""

from __future__ import annotations

FAULTS: dict[str, dict[int, str]] = {
    "SIGSEGV": {
        1: "nothing is mapped there",
        2: "the memory there does not allow it",
        3: "the bounds of the pointer forbid it",
        4: "the protection key of the memory forbids it",
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

KERNEL = 0x80  # SI_KERNEL: x86 faults whose address the processor does not tell
TIMER_AND_OTHERS = -1


def meaning(signal: str | None, code: int) -> str | None:
    """Half a sentence on a fault; None where the code says nothing of one."""
    if signal == "SIGSEGV" and code == KERNEL:
        return "the processor does not tell the address, as for one that no pointer can have"
    return FAULTS.get(signal or "", {}).get(code)


def tells_address(signal: str | None, code: int) -> bool:
    """Whether the kernel knows what address the fault is about."""
    return signal in ("SIGSEGV", "SIGBUS") and 0 < code < KERNEL


def tells_sender(code: int) -> bool:
    """Whether a process sent the signal: kill(), tgkill(), sigqueue()."""
    return code in (0, -1, -6)

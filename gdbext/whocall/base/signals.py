"""Names of Linux signals by number, for whatever machine the core comes from."""

from __future__ import annotations

_COMMON = """
    HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP
    TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS
""".split()  # noqa: SIM905 - a table is easier to read so
_MIPS = """
    HUP INT QUIT ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS PIPE ALRM TERM USR1 USR2 CHLD PWR WINCH
    URG IO STOP TSTP CONT TTIN TTOU VTALRM PROF XCPU XFSZ
""".split()  # noqa: SIM905


def signal_name(arch: str, number: int) -> str | None:
    """ "SIGSEGV" for 11; "SIG34" for a real-time signal; None for 0, which is no signal."""
    if number <= 0:
        return None
    names = _MIPS if arch.startswith("mips") else _COMMON
    return f"SIG{names[number - 1]}" if number <= len(names) else f"SIG{number}"


def tells_of_a_crash(name: str | None) -> bool:
    """Whether a thread that stops with the signal `name` did something wrong, or gave up."""
    return name in ("SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS")

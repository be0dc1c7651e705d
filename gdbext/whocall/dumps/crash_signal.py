"""What a minidump tells of the signal that ended its process."""

from __future__ import annotations

from whocall.core.records import dataclass

_FAULTS = (4, 5, 7, 8, 11)  # SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV


@dataclass(frozen=True)
class Crash:
    """The exception stream; what it does not tell, or not for sure, is None."""

    lwp: int
    signal: int
    code: int | None  # si_code
    address: int | None  # of a fault
    sender: int | None  # the process that sent the signal


def signal_info(
    signal: int, flags: int, address: int, sender: int, pid: int
) -> tuple[int | None, int | None, int | None]:
    """The code, the address of a fault and the sender, as far as the exception stream tells them.

    `sender` is what stands where a sender may be told, `pid` the process; 0 for not known.

    Folklore. Situation: the flags are si_code with newer writers alone, others leave 0. Example:
    Breakpad's dump of a division has flags 0 and the address 0x401f27; read as a siginfo, that is a
    signal that process 4202279 sent. Remedy: 0 tells nothing, and the address may be a fault's; a
    sender is believed where it is the process itself, as siginfo's union has it.
    """
    faults = signal in _FAULTS
    if flags == 0:
        own = not faults and sender != 0 and sender == pid
        return None, address if faults else None, sender if own else None
    code = flags - (1 << 32) if flags >> 31 else flags
    if code > 0:
        return code, address if faults else None, None
    return code, None, sender if sender and pid else None

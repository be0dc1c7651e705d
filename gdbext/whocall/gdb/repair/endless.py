"""Signal frames at which gdb itself never comes to an end.

Situation: gdb looks through the records of a signal frame, and before gdb 14 it stays for ever at
the one of vector registers (SVE) where it knows of no such registers. Example: programs for AArch64
run by qemu-user, whose processor has them while its cores say nothing of it: `bt` never comes back.
Remedy: gdb is led past such frames before it looks at any.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

import gdb

from whocall.repair.chain import Step

_FIXED_IN = 14
# From sp on: siginfo, the ucontext up to its sigcontext, and in that the fault's address, 31
# registers, sp, pc and flags, at the next multiple of 16.
_RECORDS = 128 + 176 + 288
_RECORDS_SIZE = 4096
_FLOATING_POINT = 0x46508001  # the first record of all
_VECTORS = 0x53564501


def _is_concerned() -> bool:
    major = re.match(r"\d+", gdb.VERSION)
    architecture = gdb.selected_frame().architecture()
    return (
        major is not None
        and int(major.group()) < _FIXED_IN
        and architecture.name().startswith("aarch64")
        and architecture.registers().find("vg") is None
    )


def _records(sp: int) -> Iterator[int]:
    """What kind the records are that begin where a signal frame at `sp` has them."""
    inferior = gdb.selected_inferior()
    at = sp + _RECORDS
    while at < sp + _RECORDS + _RECORDS_SIZE:
        try:
            kind, size = struct.unpack("<II", bytes(inferior.read_memory(at, 8)))
        except gdb.MemoryError:
            return
        if not size or (at == sp + _RECORDS and kind != _FLOATING_POINT):
            return
        yield kind
        at += size


def endless_steps(steps: Iterable[Step]) -> list[Step]:
    """Those of the selected thread's frames that gdb must not look at."""
    return [step for step in steps if _VECTORS in _records(step.sp)] if _is_concerned() else []

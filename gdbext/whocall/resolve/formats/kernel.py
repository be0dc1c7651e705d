"""What the kernel says of a program that crashes, as dmesg and the journal show it.

prog[2936]: segfault at 0 ip 000055d0c8a01139 sp 00007ffd... error 4 in prog[55d0c8a01000+1000]
traps: prog[2937] general protection fault ip:4027a2 sp:7ffd... error:0 in prog[27a2,402000+2000]
prog[99]: segfault (11) at 0 nip 10000554 lr 10000538 code 1 in prog[10000000+10000]
epc = 00400a3c in prog[400000+1000]
prog[99]: unhandled exception: DABT (lower EL), ESR 0x92000006, ... fault in prog[aaaad000+1000]
pc : 0000aaaad0001139
prog[2936]: segfault at 0 ip 000055d0c8a01139 sp 00007ffd... error 4
 in prog[55d0c8a01000+1000]

The addresses are those of the instruction itself; those of the link register, which MIPS calls ra,
are what calls return to. Behind the name stands the mapping with the code; since Linux 6.10 the
place in the file before it. AArch64 tells the registers some lines below. What
stands behind the number of the error is written by itself, and where the log takes it for a message
of its own it is the next line.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import CODE, Place

NAME = "kernel"
_PC = re.compile(
    r"\b(?:(?P<exact>ip|pc|nip|epc)|ra|lr)(?: |:| : | {1,2}= )(?:0x)?(?P<address>[0-9a-f]{4,16})\b"
)
_IN = re.compile(
    r" in (?P<module>[^\[\]]{1,255})\[(?:(?P<offset>[0-9a-f]{1,16}),)?"
    r"(?P<begin>[0-9a-f]{1,16})\+(?P<size>[0-9a-f]{1,16})\]"
)
_ERROR = re.compile(r"(?:segfault at |\btraps: ).{0,256} error[: ][0-9a-f]{1,8}\s*$")
_UNHANDLED = ": unhandled "  # so begins what AArch64 and RISC-V say


def places(line: str, context: Context) -> list[Place]:
    """The address that a line tells of."""
    unhandled = _UNHANDLED in line
    if unhandled:
        context.mapped = None
    trap, context.trap = context.trap, None
    if trap is not None and " in " in line:
        found = _IN.search(line)
        return [_place_of(trap, True, _mapped(found), found.end())] if found else []
    if " error" in line and _ERROR.search(line):
        register = _PC.search(line)
        context.trap = int(register["address"], 16) if register else None
        context.understood = register is not None
        return []
    if " in " in line and "+" in line:
        return _with_mapping(line, context, unhandled)
    if context.mapped is None or " : " not in line:
        return []
    register = _PC.search(line)
    if register is None:
        return []
    module, begin, size, in_file = context.mapped
    if not begin <= int(register["address"], 16) < begin + size:
        return []
    # The place in the file was that of the pc.
    mapped = (module, begin, size, in_file if register["exact"] else None)
    return [_place(register, mapped, len(line.rstrip()))]


def _with_mapping(line: str, context: Context, unhandled: bool) -> list[Place]:
    register = _PC.search(line)
    found = _IN.search(line, register.end() if register else 0)
    if found is None:
        return []
    mapped = _mapped(found)
    if register is not None:
        return [_place(register, mapped, found.end())]
    if unhandled:
        context.mapped = mapped
    return []


def _mapped(found: re.Match[str]) -> tuple[str, int, int, int | None]:
    """File, begin and size of its code, and the place in the file if it is told."""
    in_file = found["offset"]
    return (
        found["module"],
        int(found["begin"], 16),
        int(found["size"], 16),
        int(in_file, 16) if in_file else None,
    )


def _place(register: re.Match[str], mapped: tuple[str, int, int, int | None], end: int) -> Place:
    return _place_of(int(register["address"], 16), register["exact"] is not None, mapped, end)


def _place_of(
    address: int, exact: bool, mapped: tuple[str, int, int, int | None], end: int
) -> Place:
    module, begin, size, in_file = mapped
    return Place(
        end,
        end,
        before=" ",
        address=address,
        module=module,
        offset=address - begin,
        counted=CODE,
        extent=size,
        in_file=in_file,
        caller=not exact,
        level=0 if exact else None,
    )

"""What the kernel says of a program that crashes, as dmesg and the journal show it.

prog[2936]: segfault at 0 ip 000055d0c8a01139 sp 00007ffd... error 4 in prog[55d0c8a01000+1000]
traps: prog[2937] general protection fault ip:4027a2 sp:7ffd... error:0 in prog[27a2,402000+2000]
prog[99]: unhandled level 2 translation fault (11) at 0x0, esr 0x92000006, in prog[aaaad000+1000]

The addresses are those of the instruction itself. Behind the name stands the mapping with the code;
since Linux 6.10 the place in the file before it.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import CODE, Place

NAME = "kernel"
_PC = re.compile(r"\b(?:ip|pc)(?: |:| : )([0-9a-f]{4,16})\b")
_IN = re.compile(
    r" in (?P<module>[^\[\]]{1,255})\[(?:(?P<offset>[0-9a-f]{1,16}),)?"
    r"(?P<begin>[0-9a-f]{1,16})\+(?P<size>[0-9a-f]{1,16})\]"
)


def places(line: str, context: Context) -> list[Place]:
    """The address that a line tells of."""
    if " in " not in line or "+" not in line:
        return []
    pc = _PC.search(line)
    found = _IN.search(line, pc.end()) if pc else None
    if pc is None or found is None:
        return []
    address = int(pc[1], 16)
    in_file = found["offset"]
    return [
        Place(
            found.end(),
            found.end(),
            before=" ",
            address=address,
            module=found["module"],
            offset=address - int(found["begin"], 16),
            counted=CODE,
            extent=int(found["size"], 16),
            in_file=int(in_file, 16) if in_file else None,
            caller=False,
            level=0,
        )
    ]

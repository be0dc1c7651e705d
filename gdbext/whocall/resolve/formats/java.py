"""The logs that a Java virtual machine writes when it crashes (hs_err_pid*.log).

# C  [libpre.so+0x1119]  helper+0x9
V  [libjvm.so+0x5d5f2a]  JavaThread::run()+0x1a
Dynamic libraries:
7ff81767e000-7ff81767f000 r--p 00000000 fe:00 2188620      /tmp/libpre.so

Offsets count from the file's first mapped byte; only the list at the end tells where the files are.
The first address is that of the instruction, others are what calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import FIRST, Place

NAME = "java"
_FRAME = re.compile(
    r"^(?P<problem># )?[CVv] {1,3}\[(?P<module>[^\[\]+]{1,255})\+0x(?P<offset>[0-9a-f]{1,16})\]"
    r"(?: {1,4}(?P<symbol>\S.{0,4096}?)(?:\+0x(?P<in>[0-9a-f]{1,16}))?\s*$)?"
)


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if line.startswith("# A fatal error has been detected by the Java"):
        context.begin_report()
        return []
    if line.startswith("Native frames:"):
        context.waits = True
        context.begins.add(NAME)
        return []
    if "+0x" not in line or line[:1] not in "#CVv":
        return []
    found = _FRAME.match(line)
    if found is None:
        return []
    first = NAME in context.begins or found["problem"] is not None
    context.begins.discard(NAME)
    symbol = found["symbol"]
    begin = found.start("symbol") if symbol else found.end()
    return [
        Place(
            begin,
            found.end() if symbol else begin,
            before="" if symbol else "  ",
            module=found["module"],
            offset=int(found["offset"], 16),
            counted=FIRST,
            symbol=symbol,
            symbol_offset=int(found["in"], 16) if found["in"] else None,
            caller=not first,
            level=0 if first else None,
        )
    ]

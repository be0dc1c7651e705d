"""gdb's own backtraces.

#0  0x0000555555555149 in ?? ()
#1  0x00007ffff7e01119 in ?? () from /lib/libpre.so
#2  <signal handler called>

Where files lie tell `info proc mappings` and `info sharedlibrary`, before or in what is read.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "gdb"
_FRAME = re.compile(
    r"(?:^|\s)#(?P<level>[0-9]{1,6})\s{1,4}0x(?P<address>[0-9a-f]{1,16}) in "
    r"(?P<symbol>\S.{0,4096}?)(?: \(\)| (?=\(.))"
    r"(?:.*\) at (?P<source>\S.{0,4096}:[0-9]{1,9})|.*?(?: from (?P<module>\S.*))?)$"
)
_SIGNAL = re.compile(r"(?:^|\s)#[0-9]{1,6}\s{1,4}<signal handler called>")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "#" not in line:
        return []
    if "<signal handler called>" in line and _SIGNAL.search(line):
        context.interrupted = True
        return []
    if " in " not in line:
        return []
    found = _FRAME.search(line)
    if found is None:
        return []
    level = int(found["level"])
    symbol = found["symbol"]
    return [
        Place(
            found.start("symbol"),
            found.end("symbol") + (3 if line.startswith(" ()", found.end("symbol")) else 0),
            address=int(found["address"], 16),
            module=found["module"].rstrip() if found["module"] else None,
            symbol=None if symbol == "??" else symbol,
            caller=level != 0,
            level=level,
            sourced=found["source"] is not None,
        )
    ]

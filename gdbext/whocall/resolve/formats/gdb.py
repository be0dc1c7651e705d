"""gdb's own backtraces.

#0  0x0000555555555149 in ?? ()
#1  0x00007ffff7e01119 in ?? () from /lib/libpre.so
#2  <signal handler called>
0x0000555555555149 in ?? ()

The last is where a thread stopped.
Where files lie tell `info proc mappings` and `info sharedlibrary`, before or in what is read.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "gdb"
_HEAD = re.compile(r"(?:^|\s)#(?P<level>[0-9]{1,6})\s{1,4}0x(?P<address>[0-9a-f]{1,16}) in (?=\S)")
_STOP = re.compile(r"^0x(?P<address>[0-9a-f]{1,16}) in (?=\S)")
_SOURCE = re.compile(r"\) at \S.{0,4096}:[0-9]{1,9}\s*")
_SIGNAL = re.compile(r"(?:^|\s)#[0-9]{1,6}\s{1,4}<signal handler called>")
_FROM = ") from "


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "<signal handler called>" in line and _SIGNAL.search(line):
        context.interrupted = 1
        return []
    head = (_HEAD.search(line) if "#" in line else None) or _STOP.match(line)
    at = line.find(" (", head.end()) if head else -1
    if head is None or at < 0:
        return []
    level = int(head["level"]) if head.re is _HEAD else None
    symbol = line[head.end() : at]
    origin = line.rfind(_FROM)
    source = line.rfind(") at ")
    return [
        Place(
            head.end(),
            at + (3 if line.startswith(" ()", at) else 0),
            address=int(head["address"], 16),
            module=line[origin + len(_FROM) :].rstrip() if origin >= at else None,
            symbol=None if symbol == "??" else symbol,
            caller=level not in (None, 0),
            level=level,
            sourced=source >= at and _SOURCE.fullmatch(line, source) is not None,
        )
    ]

"""Stacks of valgrind's tools.

==3103==    at 0x109149: ??? (in /tmp/prog)
==3103==    by 0x109154: main (t.c:12)

The addresses are already those of the calls. valgrind loads a position-independent program at a
place of its own: on 64-bit Linux at 0x108000.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import VALGRIND, Place

NAME = "valgrind"
_FRAME = re.compile(
    r"(?:==|--)[0-9]{1,10}(?:==|--)\s{1,8}(?P<first>at|by) 0x(?P<address>[0-9A-F]{1,16}): "
    r"(?P<symbol>\S.{0,4096}?)"
    r"(?: \((?:in (?P<module>/.{1,4096}?)|(?P<source>[^()]{1,4096}:[0-9]{1,9}))\))?\s*$"
)


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if ": " not in line or " 0x" not in line:
        return []
    found = _FRAME.search(line)
    if found is None:
        return []
    symbol = found["symbol"]
    sourced = found["source"] is not None
    return [
        Place(
            found.start("symbol"),
            found.end("symbol"),
            address=int(found["address"], 16),
            module=found["module"],
            counted=VALGRIND,
            symbol=None if symbol == "???" else symbol,
            caller=False,
            level=0 if found["first"] == "at" else None,
            sourced=sourced,
        )
    ]

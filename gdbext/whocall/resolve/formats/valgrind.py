"""Stacks of valgrind's tools.

==3103==    at 0x109149: ??? (in /tmp/prog)
==3103==    by 0x109154: main (t.c:12)

The addresses are already those of the calls. valgrind loads a position-independent program at a
place of its own: on 64-bit Linux at 0x108000, in later versions at 0x4000000.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import VALGRIND, Place

NAME = "valgrind"
_HEAD = re.compile(
    r"(?:==|--)[0-9]{1,10}(?:==|--)\s{1,8}(?P<first>at|by) 0x(?P<address>[0-9A-F]{1,16}): (?=\S)"
)
_SOURCE = re.compile(r"[^()]{1,4096}:[0-9]{1,9}")
_IN = " (in /"


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if ": " not in line or " 0x" not in line:
        return []
    head = _HEAD.search(line)
    if head is None:
        return []
    rest = line[head.end() :].rstrip()
    module, sourced = None, False
    at = len(rest)
    if rest.endswith(")"):
        found = rest.rfind(_IN)
        if found > 0:
            at, module = found, rest[found + len(_IN) - 1 : -1]
        else:
            found = rest.rfind(" (")
            sourced = _SOURCE.fullmatch(rest, found + 2, len(rest) - 1) is not None
            at = found if sourced else at
    symbol = rest[:at]
    return [
        Place(
            head.end(),
            head.end() + at,
            address=int(head["address"], 16),
            module=module,
            counted=VALGRIND,
            symbol=None if symbol == "???" else symbol,
            caller=False,
            level=0 if head["first"] == "at" else None,
            sourced=sourced,
        )
    ]

"""Stacks that systemd-coredump writes into the journal, and coredumpctl shows.

Module /usr/bin/prog with build-id 2a86...
Stack trace of thread 4242:
#0  0x000055d0c8a01139 n/a (prog + 0x1139)
#1  0x00007f939ac4c24a __libc_start_call_main (libc.so.6 + 0x2724a)

Offsets count from the file's first mapped byte. The first address is that of the instruction,
others are what calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import FIRST, Place

NAME = "systemd"
_HEAD = re.compile(r"(?:^|\s)#(?P<level>[0-9]{1,6})\s{1,8}0x(?P<address>[0-9a-f]{1,16}) (?=\S)")
_MODULE = re.compile(r"(?P<module>.{1,4096}) \+ 0x(?P<offset>[0-9a-f]{1,16})\)\s*")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "#" not in line or " + 0x" not in line:
        return []
    head = _HEAD.search(line)
    at = line.rfind(" (")
    if head is None or at <= head.end():
        return []
    found = _MODULE.fullmatch(line, at + 2)
    if found is None:
        return []
    level = int(head["level"])
    symbol = line[head.end() : at]
    return [
        Place(
            head.end(),
            at,
            address=int(head["address"], 16),
            module=found["module"],
            offset=int(found["offset"], 16),
            counted=FIRST,
            symbol=None if symbol == "n/a" else symbol,
            caller=level != 0,
            level=level,
        )
    ]

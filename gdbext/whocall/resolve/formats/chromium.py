"""Stacks of Chromium, of V8 and Node, of Abseil, and of glog.

#1 0x55d0c8a01139 (/opt/chrome/chrome+0x1139)
#1 0x55d0c8a01139 base::Run()
 1: 0xb090e0 node::Abort() [node]
 2: 0x7f939ac4c24a  [/lib/x86_64-linux-gnu/libc.so.6]
    @     0x55d0c8a01139       16  (unknown)

All are addresses that calls return to, but for glog's "PC: @". Offsets count from the file's first
mapped byte.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import FIRST, Place

NAME = "chromium"
_HEAD = re.compile(r"(?:^|\s)#(?P<level>[0-9]{1,6}):? 0x(?P<address>[0-9a-f]{4,16})(?= |$)")
_REST = re.compile(
    r" \((?P<module>/[^()]{1,4096})\+0x(?P<offset>[0-9a-f]{1,16})\)\s*| (?P<symbol>\S.{0,4096})|"
)
_NODE = re.compile(
    r"^ ?(?P<level>[0-9]{1,4}): 0x(?P<address>[0-9a-f]{4,16}) (?P<symbol>.{0,4096}?) ?"
    r"\[(?P<module>[^\[\]]{1,4096})\]\s*$"
)
_ABSEIL = re.compile(
    r"^(?P<pc>PC: )?\s{0,8}@\s{1,20}0x(?P<address>[0-9a-f]{4,16})(?:\s{1,20}[0-9]{1,12})?\s{1,20}"
    r"(?P<symbol>\S.{0,4096})$"
)
_UNKNOWN = ("(unknown)", "<unknown>", "(/unknown)")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "0x" not in line:
        return []
    head = _HEAD.search(line)
    found = _REST.fullmatch(line, head.end()) if head else None
    if head is not None and found is not None:
        return [_chromium(head, found)]
    found = _NODE.match(line)
    if found is not None:
        return [_node(found)]
    found = _ABSEIL.match(line)
    if found is None:
        return []
    symbol = found["symbol"]
    return [
        Place(
            found.start("symbol"),
            found.end("symbol"),
            address=int(found["address"], 16),
            symbol=None if symbol in _UNKNOWN else symbol,
            caller=found["pc"] is None,
            level=0 if found["pc"] else None,
        )
    ]


def _chromium(head: re.Match[str], found: re.Match[str]) -> Place:
    symbol = found["symbol"]
    begin = found.start("symbol") if symbol else head.end()
    return Place(
        begin,
        found.end("symbol") if symbol else begin,
        before="" if symbol else " ",
        address=int(head["address"], 16),
        module=found["module"],
        offset=int(found["offset"], 16) if found["offset"] else None,
        counted=FIRST,
        symbol=None if symbol in _UNKNOWN else symbol,
        level=int(head["level"]),
    )


def _node(found: re.Match[str]) -> Place:
    return Place(
        found.start("symbol"),
        found.end("symbol"),
        after="" if found["symbol"] else " ",
        address=int(found["address"], 16),
        module=found["module"],
        symbol=found["symbol"] or None,
        level=int(found["level"]),
    )

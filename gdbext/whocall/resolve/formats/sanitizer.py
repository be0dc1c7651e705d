"""Stacks of AddressSanitizer, LeakSanitizer, MemorySanitizer, ThreadSanitizer and UBSan.

    #1 0x56260f7d21f0 in caller /src/t.c:10
    #1 0x56260f7d21f0  (/tmp/prog+0x11f0) (BuildId: 2a86...)
    #0 <null> <null> (prog+0x11f0) (BuildId: 2a86...)
SUMMARY: AddressSanitizer: SEGV (/tmp/prog+0x1198)

The addresses are already those of the calls. Offsets are link addresses.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "sanitizer"
_FRAME = re.compile(
    r"(?:^|[\s|=])#(?P<level>[0-9]{1,6})\s"
    r"(?:0x(?P<address>[0-9a-f]{1,16})(?:(?P<in> in)|(?P<gap> (?= \()))?)?\s*"
)
_SUMMARY = re.compile(r"SUMMARY: \w{1,40}: [\w\s-]{1,80}(?=\()")
_MODULE = re.compile(
    r"\((?P<module>[^()]{1,4096}?)\+0x(?P<offset>[0-9a-f]{1,16})\)"
    r"(?: \(BuildId: (?P<id>[0-9a-f]{8,64})\))?\s*$"
)
_SOURCE = re.compile(r"\S:[0-9]{1,9}(?::[0-9]{1,9})?$")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "+0x" not in line or ("#" not in line and "SUMMARY: " not in line):
        return []
    found = _FRAME.search(line)
    start = found or _SUMMARY.search(line)
    module = _MODULE.search(line, start.end()) if start else None
    if start is None or module is None:
        return []
    named = line[start.end() : module.start()].rstrip()
    begin = start.end()
    address = found["address"] if found else None
    if found and not (found["in"] or found["gap"] if address else named):
        return []
    place = Place(
        begin,
        begin + len(named),
        module=module["module"],
        offset=int(module["offset"], 16),
        build_id=module["id"],
        caller=False,
    )
    return [_with_name(place, named, found, address)]


def _with_name(place: Place, named: str, found: re.Match[str] | None, address: str | None) -> Place:
    from whocall.base.records import replace

    symbol = named.replace("<null>", "").strip()
    return replace(
        place,
        before="in " if found and address and not found["in"] else "",
        after="" if named else " ",
        address=int(address, 16) if address else None,
        symbol=symbol or None,
        level=int(found["level"]) if found else None,
        sourced=bool(symbol and _SOURCE.search(symbol)),
    )

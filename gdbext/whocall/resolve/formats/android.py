"""Android's tombstones and what logcat shows of them.

      #01 pc 00000000000011b0  /data/app/x/lib/arm64/libgame.so (caller+8) (BuildId: 2a86...)
      #02 pc 0000000000045678  /data/app/x/base.apk!libgame.so (offset 0x1000) (BuildId: 2a86...)

The numbers are link addresses, of calls already.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "android"
_FRAME = re.compile(
    r"(?:^|\s)#(?P<level>[0-9]{1,5})\s{1,8}pc (?P<pc>[0-9a-f]{8,16})\s{1,8}(?P<rest>\S.*)$"
)
_ID = re.compile(r" \(BuildId: (?P<id>[0-9a-f]{8,64})\)")
_NAME = re.compile(
    r" \((?P<symbol>[^()\s][^\s]{0,4096}?)(?:\+(?P<offset>[0-9]{1,12}))?\)(?= \(|\s*$)"
)
_OFFSET = re.compile(r" \(offset 0x[0-9a-f]{1,16}\)")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if " pc " not in line:
        return []
    found = _FRAME.search(line)
    if found is None:
        return []
    rest = found["rest"]
    build = _ID.search(rest)
    offset = _OFFSET.search(rest)
    name = _NAME.search(rest)
    ends = [part.start() for part in (build, offset, name) if part]
    module = rest[: min(ends)] if ends else rest.rstrip()
    at = found.start("rest")
    begin = at + (name.start() if name else build.start() if build else len(module))
    return [
        Place(
            begin,
            at + name.end() if name else begin,
            before=" (",
            after=")",
            module=module.rsplit("!", 1)[-1],
            offset=int(found["pc"], 16),
            build_id=build["id"] if build else None,
            symbol=name["symbol"] if name else None,
            symbol_offset=int(name["offset"]) if name and name["offset"] else None,
            caller=False,
            level=int(found["level"]),
        )
    ]

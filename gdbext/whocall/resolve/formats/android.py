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
_ID = re.compile(r" \(BuildId: (?P<id>[0-9a-f]{8,64})\)\s*$")
_OFFSET = re.compile(r" \(offset 0x[0-9a-f]{1,16}\)")
_IN = re.compile(r"\+(?P<offset>[0-9]{1,12})\Z")
_DELETED = " (deleted)"


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if " pc " not in line:
        return []
    found = _FRAME.search(line)
    if found is None:
        return []
    rest = found["rest"].rstrip()
    build = _ID.search(rest)
    told = rest[: build.start()] if build else rest
    module, name, begin, end = _parts(told)
    offset = _IN.search(name)
    at = found.start("rest")
    return [
        Place(
            at + begin,
            at + end,
            before=" (",
            after=")",
            module=None if module.startswith("<") else module.rsplit("!", 1)[-1],
            offset=int(found["pc"], 16),
            build_id=build["id"] if build else None,
            symbol=(name[: offset.start()] if offset else name) or None,
            symbol_offset=int(offset["offset"]) if offset else None,
            caller=False,
            level=int(found["level"]),
        )
    ]


def _parts(told: str) -> tuple[str, str, int, int]:
    """The file, the name of the function, which may have blanks and parentheses of its own, and
    where the name begins and ends with what is around it.
    """
    at = told.find(" (")
    if at >= 0 and told.startswith(_DELETED, at):
        at = told.find(" (", at + 1)
    if at < 0:
        return told.removesuffix(_DELETED), "", len(told), len(told)
    module = told[:at].removesuffix(_DELETED)
    offset = _OFFSET.match(told, at)
    begin = offset.end() if offset else at
    if not told.startswith(" (", begin) or not told.endswith(")"):
        return module, "", begin, begin
    return module, told[begin + 2 : -1], begin, len(told)

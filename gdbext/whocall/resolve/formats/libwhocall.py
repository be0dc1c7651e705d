"""What libwhocall prints: of a crash, or when a program asks who called it.

whocall: /usr/bin/prog[4242] crashed: SIGSEGV (signal 11, ...) at address 0x0, thread 4242 "prog"
#0  0x0000555555555139 /usr/bin/prog(+0x1139) ? [context]
#1  0x0000555555555150 /usr/bin/prog(+0x1150) ? [cfi]
end of the stack: the outermost frame
module: 0x0000555555554000-0x0000555555559000 bias 0x555555554000 build id 2a86... /usr/bin/prog
mapping: 555555554000-555555555000 r--p 00000000 fe:00 2189393    /usr/bin/prog

Offsets are link addresses. In a crash's report the first frame of a stack, "[context]", is where a
signal interrupted it; else it is one that a call returns to, as all others are. Builds are told
behind the stacks.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "libwhocall"
_HEAD = re.compile(r"(?:^|\s)whocall: \S.{0,4096}\[[0-9]{1,10}\] crashed: ")
_FRAME = re.compile(
    r"(?:^|\s)#(?P<level>[0-9]{1,7}) {1,2}0x(?P<address>[0-9a-f]{1,16}) "
    r"(?:\?|(?P<module>\S.{0,4096}?)\(\+0x(?P<offset>[0-9a-f]{1,16})\)) "
    r"(?P<name>\?|(?P<symbol>\S.{0,4096}?)\+0x(?P<in>[0-9a-f]{1,16})) "
    r"\[(?P<trust>context|cfi|analysis|frame-pointer)\]\s*$"
)


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if " crashed: " in line and _HEAD.search(line):
        context.begin_crash()
        return []
    if "#" not in line or not line.rstrip().endswith("]"):
        return []
    found = _FRAME.search(line)
    if found is None:
        return []
    exact = found["trust"] == "context" and context.in_crash
    return [
        Place(
            found.start("name"),
            found.end("name"),
            address=int(found["address"], 16),
            module=found["module"],
            offset=int(found["offset"], 16) if found["offset"] else None,
            symbol=found["symbol"],
            symbol_offset=int(found["in"], 16) if found["in"] else None,
            caller=not exact,
            level=int(found["level"]),
        )
    ]

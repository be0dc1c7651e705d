"""What libwhocall prints: of a crash, or when a program asks who called it.

whocall: /usr/bin/prog[4242] crashed: SIGSEGV (signal 11, ...) at address 0x0, thread 4242 "prog"
#0  0x0000555555555139 /usr/bin/prog(+0x1139) ? [context]
#1  0x0000555555555150 /usr/bin/prog(+0x1150) ? [cfi]
end of the stack: the outermost frame
module: 0x0000555555554000-0x0000555555559000 bias 0x555555554000 build id 2a86... /usr/bin/prog
mapping: 555555554000-555555555000 r--p 00000000 fe:00 2189393    /usr/bin/prog

A report that a signal asked for begins with "goes on, asked by" instead of "crashed:".
Offsets are link addresses. In a crash's report the first frame of a stack, "[context]", is where a
signal interrupted it; else it is one that a call returns to, as all others are. Builds are told
behind the stacks. In the text of a record the line "interrupted by a signal:" stands above other
frames that a signal interrupted.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "libwhocall"
INTERRUPTED = "interrupted by a signal:"
_HEAD = re.compile(r"(?:^|\s)whocall: \S.{0,4096}\[[0-9]{1,10}\] (?:crashed: |goes on, asked by )")
_ANNOTATION = re.compile(r"(?:\S{1,64} ){0,8}?annotation: [^=\s][^=]{0,64} = ")
_FRAME = re.compile(r"(?:^|\s)#(?P<level>[0-9]{1,7}) {1,2}0x(?P<address>[0-9a-f]{1,16}) (?=\S)")
_TRUST = re.compile(r" \[(context|cfi|analysis|frame-pointer)\]\s*")
_OFFSET = re.compile(r"\(\+0x([0-9a-f]{1,16})\) ")
_NAME = re.compile(r"(?P<symbol>\S.{0,4096})\+0x(?P<in>[0-9a-f]{1,16})")


def is_said_by_the_program(line: str) -> bool:
    """Whether it is one of its annotations: those may look like anything, and are nothing."""
    return "annotation: " in line and _ANNOTATION.match(line) is not None


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "] " in line and _HEAD.search(line):
        context.begin_crash()
        return []
    if line == INTERRUPTED:
        context.interrupted = 1
        return []
    end = line.rfind(" [")
    head = _FRAME.search(line) if end > 0 and "#" in line else None
    trust = _TRUST.fullmatch(line, end) if head else None
    if head is None or trust is None:
        return []
    module, begin = _module(line, head.end())
    name = _NAME.fullmatch(line, begin, end)
    if begin > end or (name is None and line[begin:end] != "?"):
        return []
    exact = trust[1] == "context" and context.in_crash
    return [
        Place(
            begin,
            end,
            address=int(head["address"], 16),
            module=module[0] if module else None,
            offset=module[1] if module else None,
            symbol=name["symbol"] if name else None,
            symbol_offset=int(name["in"], 16) if name else None,
            caller=not exact,
            level=int(head["level"]),
        )
    ]


def _module(line: str, at: int) -> tuple[tuple[str, int] | None, int]:
    """The file and the offset in it at a place of the line, and where the name begins."""
    if line.startswith("? ", at):
        return None, at + 2
    found = _OFFSET.search(line, at)
    if found is None or found.start() == at:
        return None, len(line) + 1
    return (line[at : found.start()], int(found[1], 16)), found.end()

"""What `perf script` prints of samples with their stacks.

prog  3628  1313.443843:     250000 cpu-clock:
            55d0c8a01139 [unknown] (/tmp/prog)
                    11c8 [unknown] (/tmp/prog)
prog  3628  1313.443843:     250000 cpu-clock:      55d0c8a01139 [unknown] (/tmp/prog)

The number is a runtime address, which perf script --show-mmap-events explains, or one in the file.
The first in the program is that of the instruction, others are what calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import FILE, Place

NAME = "perf"
_FRAME = re.compile(
    r"(?P<address>[0-9a-f]{1,16}) (?P<symbol>\S.{0,4096}?)"
    r" \((?P<module>[/\[].{0,4095})\)\s*$"
)
_INDENT = re.compile(r"[ \t]{1,40}(?=[0-9a-f]{1,16} )")
_EVENT = re.compile(
    r"^\s{0,40}\S.{0,256} [0-9]+\.[0-9]{3,9}:\s{1,20}(?:[0-9]{1,20} )?\S{1,256}:\s{1,20}"
)
_DELETED = " (deleted)"
_KERNEL = 1 << 63


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if not line.rstrip().endswith(")"):
        context.begins.add(NAME)
        return []
    indent = _INDENT.match(line)
    sample = _EVENT.match(line) if indent is None or ": " in line else None
    head = sample or indent
    if sample is not None or head is None:
        context.begins.add(NAME)
    found = _FRAME.match(line, head.end()) if head is not None else None
    if found is None:
        return []
    address = int(found["address"], 16)
    if address >= _KERNEL or found["module"].startswith("["):
        context.understood = True
        return []
    first = NAME in context.begins
    context.begins.discard(NAME)
    at_run_time = context.maps.find(address) is not None
    symbol = found["symbol"]
    return [
        Place(
            found.start("symbol"),
            found.end("symbol"),
            address=address if at_run_time else None,
            module=found["module"].removesuffix(_DELETED),
            offset=None if at_run_time else address,
            counted=FILE,
            symbol=None if symbol == "[unknown]" else symbol,
            caller=not first,
            level=0 if first else None,
        )
    ]

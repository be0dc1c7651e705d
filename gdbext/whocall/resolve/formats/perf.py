"""What `perf script` prints of samples with their stacks.

prog  3628  1313.443843:     250000 cpu-clock:
            55d0c8a01139 [unknown] (/tmp/prog)
                    11c8 [unknown] (/tmp/prog)

The number is a runtime address, which perf script --show-mmap-events explains, or one in the file.
The first in the program is that of the instruction, others are what calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import FILE, Place

NAME = "perf"
_FRAME = re.compile(
    r"^\s{1,40}(?P<address>[0-9a-f]{1,16}) (?P<symbol>\S.{0,4096}?)"
    r" \((?P<module>(?:/|\[)[^()]{0,4096})\)\s*$"
)
_KERNEL = 1 << 63


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if not line.startswith(("\t", " ")) or not line.rstrip().endswith(")"):
        context.begins.add(NAME)
        return []
    found = _FRAME.match(line)
    if found is None:
        return []
    address = int(found["address"], 16)
    if address >= _KERNEL or found["module"].startswith("["):
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
            module=found["module"],
            offset=None if at_run_time else address,
            counted=FILE,
            symbol=None if symbol == "[unknown]" else symbol,
            caller=not first,
            level=0 if first else None,
        )
    ]

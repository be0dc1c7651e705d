"""Lines of glibc's backtrace_symbols() and backtrace_symbols_fd().

    ./prog(+0x11a8)[0x55f77e3af1a8]
    /lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0x85)[0x7f939ac4c305]
    ./prog(main+0x15) [0x401151]
    ./prog() [0x401136]
    ./prog[0x401136]
    [0x401136]

The last is how static programs do it. All are addresses that calls return to. Offsets without a
name count from the load bias, which makes them link addresses; a name is the nearest that the
dynamic linker knows, and often not the function's.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "glibc"
_END = re.compile(
    r"(?:\((?P<symbol>[^()\s+]{0,4096})(?:\+0x(?P<offset>[0-9a-f]{1,16}))?\) ?|(?<=\S))"
    r"\[0x(?P<address>[0-9a-f]{1,16})\]"
)


_BARE = re.compile(r"\s{0,40}\[0x(?P<address>[0-9a-f]{4,16})\]\s{0,40}")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "[0x" not in line:
        return []
    bare = _BARE.fullmatch(line)
    if bare is not None:
        end = len(line)
        return [Place(end, end, before=" ", address=int(bare["address"], 16))]
    found = _END.search(line)
    if found is None or found.start() == 0:
        return []
    module = line[: found.start()].lstrip()
    if module[:1] not in ("/", "."):
        module = module.split(" ")[-1]
    if not module or (found["symbol"] is None and "/" not in module):
        return []
    symbol, offset = found["symbol"], found["offset"]
    number = None if offset is None else int(offset, 16)
    end = found.end()
    return [
        Place(
            end,
            end,
            before=" ",
            address=int(found["address"], 16),
            module=module,
            offset=None if symbol else number,
            symbol=symbol or None,
            symbol_offset=number if symbol else None,
        )
    ]

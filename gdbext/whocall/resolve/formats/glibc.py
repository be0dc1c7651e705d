"""Lines of glibc's backtrace_symbols() and backtrace_symbols_fd().

    ./prog(+0x11a8)[0x55f77e3af1a8]
    /lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0x85)[0x7f939ac4c305]
    ./prog(main+0x15) [0x401151]
    ./prog(Tree::add(int)+0x15) [0x401151]
    ./prog() [0x401136]
    ./prog[0x401136]
    [0x401136]
    postgres: bob shop [local] SELECT(+0x2f7bbf) [0x55f77e3af1a8]

The last but one is how static programs do it. All are addresses that calls return to. Offsets
without a name count from the load bias, which makes them link addresses; a name is the nearest that
the dynamic linker knows, and often not the function's.

The program itself stands there as it calls itself in argv[0]: servers write into it what they do.
Libraries have paths; so what has none is the program, whatever the words are. Nor is a path what
ends with digits alone (`postgres: walsender bob [local] streaming 0/3000060`, `sshd: bob@pts/0`).
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
# The same with parameters, as c++filt leaves it.
_CXX_END = re.compile(r"\+0x(?P<offset>[0-9a-f]{1,16})\) ?\[0x(?P<address>[0-9a-f]{1,16})\]")
_BARE = re.compile(r"\s{0,40}\[0x(?P<address>[0-9a-f]{4,16})\]\s{0,40}")
_NUMBER = re.compile(r"[0-9A-Fa-f]{1,16}")
_LONGEST_NAME = 8192
_VDSO = ("linux-vdso.so.1", "linux-gate.so.1")


def places(line: str, context: Context) -> list[Place]:
    """The frame that a line tells of."""
    if "[0x" not in line:
        return []
    bare = _BARE.fullmatch(line)
    if bare is not None:
        end = len(line)
        return [Place(end, end, before=" ", address=int(bare["address"], 16))]
    found = _END.search(line)
    if found is None or (found["symbol"] is None and line[: found.start()].endswith(")")):
        found = _CXX_END.search(line) if "+0x" in line else None
    if found is None:
        return []
    at, symbol = _name(line, found)
    title = line[:at].strip() if at > 0 else ""
    module = title if title[:1] in ("/", ".") and " " not in title else title.split(" ")[-1]
    if not module or (symbol is None and "/" not in module):
        return []
    number = None if found["offset"] is None else int(found["offset"], 16)
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
            program=_is_no_path(module) and module not in _VDSO,
            title=title if title != module else "",
        )
    ]


def _is_no_path(word: str) -> bool:
    number = _NUMBER.fullmatch(word, word.rfind("/") + 1) is not None
    return "/" not in word or (number and word[0] not in "/.")


def _name(line: str, found: re.Match[str]) -> tuple[int, str | None]:
    """Where the name of the file ends, and the name of the function; None where there is none."""
    if "symbol" in found.re.groupindex:
        return found.start(), found["symbol"]
    depth = 1
    for at in range(found.start() - 1, max(-1, found.start() - _LONGEST_NAME), -1):
        depth += (line[at] == ")") - (line[at] == "(")
        if depth == 0:
            return at, line[at + 1 : found.start()]
    return 0, None

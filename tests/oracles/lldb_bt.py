"""The stacks that lldb finds, from the text of `thread backtrace all`.

What its words mean, seen with lldb 14:

- The printed pc of a caller is the exact return address. - `thread list` tells the thread ids,
`thread backtrace` only lldb's own numbers. - A frame with `[inlined]` in it shares the physical
frame that follows, under the same pc; it is left out. - It reads cores of x86-64 and of i386. -
Its Python may be broken where another distribution package shadows it (complaints on stderr, and no
`script`); the text is right all the same. - It ends with 1 and no output where it cannot read the
core. - A function without a symbol is `___lldb_unnamed_symbol12`: no name.
"""

from __future__ import annotations

import re
from pathlib import Path

from oracles.remembered import remembered
from oracles.tools import ToolError, asked

TIMEOUT = 60
"""Seconds for one core."""

_LISTED = re.compile(r"[ *]+thread #(\d+): tid = (\d+)")
_THREAD = re.compile(r"[ *]+thread #(\d+)(?:,|$)")
_FRAME = re.compile(r"[ *]+frame #\d+: 0x([0-9a-f]+)(.*)")
_NAME = re.compile(r" [^`]*`(?!___lldb_unnamed_symbol)(.+?)(?: \+ \d+)?(?: at [^ ]+)?$")


def of_core(core: Path, exe: Path | None = None, limit: int = 0) -> dict[int, list[int]]:
    """The pcs of each thread by its id; at most `limit` frames a thread, 0 for all.

    Raises ToolError where lldb cannot read the core or does not come to an end.
    """
    return remembered("lldb", core, exe, limit, lambda: parse(bt_text(core, exe, limit)))


def names_of_core(core: Path, exe: Path | None = None) -> dict[int, str | None]:
    """The names by pc, of all threads together; None where lldb has none."""
    found = (_FRAME.match(line) for line in bt_text(core, exe).splitlines())
    return {
        int(frame[1], 16): name[1] if (name := _NAME.match(frame[2])) else None
        for frame in found
        if frame and " [inlined] " not in frame[2]
    }


def bt_text(core: Path, exe: Path | None = None, limit: int = 0) -> str:
    """What lldb prints: `thread list`, then `thread backtrace all`."""
    count = f"-c {limit} " if limit else ""
    target = f'target create --core "{core}"' + (f' "{exe}"' if exe else "")
    steps = (target, "thread list", f"thread backtrace {count}all")
    command = ["lldb", "--no-lldbinit", "--batch"]
    for step in steps:
        command += ["-o", step]
    finished = asked(command, timeout=TIMEOUT)
    if "frame #0" not in finished.stdout:
        raise ToolError(f"{' '.join(command)}: no threads\n{finished.stderr[-2000:]}")
    return finished.stdout


def parse(text: str) -> dict[int, list[int]]:
    """The pcs by thread id out of `thread list` and `thread backtrace all`, in that order."""
    tids: dict[int, int] = {}
    chains: dict[int, list[int]] = {}
    chain: list[int] = []
    for line in text.splitlines():
        if listed := _LISTED.match(line):
            tids[int(listed[1])] = int(listed[2])
        elif thread := _THREAD.match(line):
            chain = chains.setdefault(tids[int(thread[1])], [])
        elif (frame := _FRAME.match(line)) and " [inlined] " not in frame[2]:
            chain.append(int(frame[1], 16))
    return chains

"""gdb's own stacks as lists, in sessions with our extension and without; what they should be."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from programs import Crash
from sessions import Said, batch

Stack = list[tuple[int, str]]  # pc and name of the function; "None" where gdb has none

WALK = (
    "python\nprint('{stack}')\nf = gdb.newest_frame()\nwhile f:\n"
    "  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):\n"
    "    print('frame', f.pc(), f.name())\n"
    "  f = f.older()"
)
PAST_MAIN = "set backtrace past-main on"


def stacks(said: Said) -> list[Stack]:
    """Those that each WALK of the session printed."""
    return [
        [(int(pc), name) for pc, name in re.findall(r"^frame (\d+) (.+)$", part, re.MULTILINE)]
        for part in said.out.split("{stack}\n")[1:]
    ]


def without_whocall(commands: Sequence[str], arguments: Sequence[str | Path] = ()) -> Said:
    """A session of a colleague."""
    return batch(commands, arguments, script=None)


def functions(twin: Path) -> dict[str, int]:
    """The link addresses of functions by name."""
    said = subprocess.run(["nm", twin], capture_output=True, text=True, check=True).stdout
    return {name: int(at, 16) for at, name in re.findall(r"^(\w+) [tTwW] (\w+)$", said, re.M)}


def nameless(stack: Stack, twin: Path) -> Stack:
    """What whocall calls the functions of a program without symbols: all but main and _start."""
    known = functions(twin)
    return [
        (pc, f"sub_{known[name]:x}" if name in known and name not in ("main", "_start") else name)
        for pc, name in stack
    ]


def truth(crash: Crash) -> Stack:
    """The true chain past main, with the names that there are without symbols."""
    (found,) = stacks(without_whocall([PAST_MAIN, WALK], [crash.twin, crash.core]))
    return nameless(found, crash.twin)

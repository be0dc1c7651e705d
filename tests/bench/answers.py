"""Whether a peer says the same as whocall: the frames and their functions, the symbols.

Inlined calls and tail calls, which not all tell of, are left out. Names are compared where both
have one; of a function with several, any will do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oracles import eu_stack, gdb_bt, lldb_bt

from bench.inputs import Dumped


class Frame(NamedTuple):
    """What is compared of it."""

    pc: int
    names: frozenset[str]


Stacks = Mapping[int, Sequence[Frame]]
"""By the kernel's id of the thread."""

_ANONYMOUS = re.compile(r"\(anonymous namespace\)::|operator ?\(\)")


def _plain(name: str | None) -> frozenset[str]:
    """Without what the tools write differently: versions, arguments, spaces."""
    whole = _ANONYMOUS.sub("", name or "")
    return frozenset({whole.partition("(")[0].partition("@")[0].replace(" ", "")} - {""})


def ours(path: Path) -> Stacks:
    """Out of `whocall bt --all --json`."""

    def reduced(item: dict[str, object]) -> object:
        if "aliases" not in item:  # of an argument, a thread
            return item
        aliases = item["aliases"] if isinstance(item["aliases"], list) else []
        named = [] if item["inferred"] else [item["function"], *aliases]
        frame = Frame(int(str(item["pc"]), 16), frozenset[str]().union(*map(_plain, named)))
        return None if item["inlined"] else frame

    with path.open(encoding="utf-8") as file:
        told = json.load(file, object_hook=reduced)
    return {
        thread["lwp"]: [frame for frame in thread["frames"] if frame] for thread in told["threads"]
    }


def of_gdb(dumped: Dumped) -> Stacks:
    """By its Python, which tells tail calls from frames."""
    return {
        tid: [
            Frame(frame.pc, _plain(frame.name))
            for frame in thread.frames
            if frame.kind not in ("inline", "tailcall")
        ]
        for tid, thread in gdb_bt.of_core(*dumped).items()
    }


def of_lldb(dumped: Dumped) -> Stacks:
    """Its names are not asked for."""
    found = lldb_bt.of_core(*dumped)
    return {tid: [Frame(pc, frozenset()) for pc in pcs] for tid, pcs in found.items()}


def of_eu_stack(dumped: Dumped) -> Stacks:
    """Where a function has no symbol it tells the name of the one before: no names either."""
    found = eu_stack.of_core(*dumped).pcs()
    return {tid: [Frame(pc, frozenset()) for pc in pcs] for tid, pcs in found.items()}


WITNESSES: dict[str, Callable[[Dumped], Stacks]] = {
    "gdb": of_gdb,
    "lldb": of_lldb,
    "eu-stack": of_eu_stack,
}


def difference(here: Stacks, there: Stacks) -> str:
    """What is first found to differ; empty where both are the same."""
    if here.keys() != there.keys():
        return f"{len(there)} threads, ours {len(here)}"
    for tid, frames in here.items():
        theirs = there[tid]
        if len(frames) != len(theirs):
            return f"{len(theirs)} frames in thread {tid}, ours {len(frames)}"
        for level, (frame, other) in enumerate(zip(frames, theirs, strict=True)):
            place = f"#{level} of thread {tid}"
            if other.pc != frame.pc:
                return f"{other.pc:#x} at {place}, ours {frame.pc:#x}"
            if frame.names and other.names and not frame.names & other.names:
                return f"{min(other.names)} at {place}, ours {min(frame.names)}"
    return ""

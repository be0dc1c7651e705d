"""Whether a peer says the same as whocall: the frames, their functions, the symbols.

Names are compared where both have one; of a function with several, any will do. Inlined calls are
frames too where the peer tells of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oracles import bt_text, eu_stack, lldb_bt


class Frame(NamedTuple):
    """What is compared of it."""

    pc: int | None
    """Where it is printed."""
    names: frozenset[str]


Stacks = dict[int, list[Frame]]
"""By the kernel's id of the thread."""


def _plain(name: str | None) -> frozenset[str]:
    """Without what the tools write differently: versions, arguments, marks of parts."""
    if not name:
        return frozenset()
    return frozenset({name.partition("(")[0].partition("@")[0].replace(" ", "")})


def ours(path: Path, inlined: bool) -> Stacks:
    """Out of `whocall bt --all --json`."""

    def reduced(item: dict[str, object]) -> object:
        if "trust" not in item:
            return item
        names = [item["function"], *item["aliases"]] if item["function"] else []  # type: ignore[misc]
        proven = [] if item["inferred"] else names
        frame = Frame(int(str(item["pc"]), 16), frozenset[str]().union(*map(_plain, proven)))
        return None if item["inlined"] and not inlined else frame

    with path.open(encoding="utf-8") as file:
        told = json.load(file, object_hook=reduced)
    return {
        thread["lwp"]: [frame for frame in thread["frames"] if frame] for thread in told["threads"]
    }


def of_gdb(text: str) -> Stacks:
    """Out of `thread apply all bt`, with inlined calls."""
    return {
        tid: [Frame(line.pc, _plain(line.name)) for line in lines]
        for tid, lines in bt_text.parse(text).items()
    }


def of_lldb(text: str) -> Stacks:
    """Out of `thread backtrace all`."""
    found = lldb_bt.parse(text)
    return {tid: [Frame(pc, frozenset()) for pc in pcs] for tid, pcs in found.items()}


def of_eu_stack(text: str) -> Stacks:
    """Out of what eu-stack prints; its names are often of the function before."""
    return {
        tid: [Frame(frame.pc, frozenset()) for frame in frames]
        for tid, frames in eu_stack.parse(text).items()
    }


def difference(here: Mapping[int, Sequence[Frame]], there: Mapping[int, Sequence[Frame]]) -> str:
    """What is first found to differ; empty where both are the same."""
    if len(there) == 1 and len(here) == 1:  # a plain `bt` names no thread
        there = dict(zip(here, there.values()))
    if here.keys() != there.keys():
        return f"{len(there)} threads, and ours are {len(here)}"
    for tid, frames in here.items():
        theirs = there[tid]
        if len(frames) != len(theirs):
            return f"{len(theirs)} frames in thread {tid}, and ours are {len(frames)}"
        for level, (frame, other) in enumerate(zip(frames, theirs)):
            if other.pc is not None and other.pc != frame.pc:
                return f"another pc at #{level} of thread {tid}"
            if frame.names and other.names and not frame.names & other.names:
                return f"{min(other.names)} at #{level} of thread {tid}, and ours {min(frame.names)}"
    return ""

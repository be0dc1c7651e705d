"""A frame of gdb's own where whocall does not know better.

Situation: from a frame no rule leads on, so that whocall searches the stack or follows frame
pointers, and either way may pass over a frame, or it finds none at all. Example: the program's file
is missing, and the word at the stack pointer is the return address; gdb takes it for that, and the
search went by it because it looks like the start of a function. Remedy: what gdb shows right there
by itself, if that is code further up its stack, stays, and the chain goes on behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import gdb

from whocall.repair.chain import Chain, RegisterNames, Step

Ranges = Sequence[tuple[int, int]]


def _frame_at(chain: Chain) -> tuple[int, gdb.Frame] | None:
    """gdb's first frame that is not the chain's, and its level without inlined and tail calls."""
    level = 0
    frame = gdb.newest_frame()
    while frame is not None and level <= len(chain.steps):
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            if level == len(chain.steps) or frame.pc() != chain.steps[level].pc:
                return level, frame
            level += 1
        frame = frame.older()
    return None


def _registers(frame: gdb.Frame, below: Step, names: RegisterNames) -> Mapping[str, int]:
    """Of those that are told of frames, what gdb knows here."""
    found: dict[str, int] = {}
    for name in {names.pc, names.sp, *(below.caller or {})}:
        try:
            value = frame.read_register(name)
            if not value.is_optimized_out:
                found[name] = int(value) & ((1 << 8 * value.type.sizeof) - 1)
        except (gdb.error, OverflowError):  # not known in this frame, or no number
            continue
    return found


def _leads_to_code(registers: Mapping[str, int], names: RegisterNames, code: Ranges) -> bool:
    pc = registers.get(names.pc, 0)
    return names.sp in registers and any(begin <= pc - 1 < end for begin, end in code)


def _goes_on_at(frame: gdb.Frame, pc: int) -> bool:
    try:
        older = frame.older()
    except gdb.error:
        return False
    return older is not None and older.pc() == pc


def with_own_frame(chain: Chain, names: RegisterNames, code: Ranges) -> Chain:
    """The chain of the selected thread, with the frame of gdb's own if there is such a one.

    Asked before gdb is told anything; `code` is where code may lie.
    """
    try:
        found = _frame_at(chain)
    except gdb.error:  # gdb cannot go on
        return chain
    if found is None or found[0] == 0:
        return chain
    level, frame = found
    below = chain.steps[level - 1]
    known = below.ruled if level < len(chain.steps) else chain.is_whole or bool(chain.more)
    if known or frame.newer().type() == gdb.SIGTRAMP_FRAME:
        return chain
    registers = _registers(frame, below, names)
    if not _leads_to_code(registers, names, code):
        return chain
    pc, sp = registers[names.pc], registers[names.sp]
    rest = chain.steps[level:]
    own = Step(pc, pc - 1, sp, max(below.cfa, sp), pc, below.caller, ruled=False)
    if rest and sp >= rest[0].sp:  # what was found lies inside of the frame below as gdb has it
        if not _goes_on_at(frame, rest[0].pc):
            return chain
        own = replace(own, cfa=sp, caller={}, ruled=True)
    if sp <= below.sp:
        return chain
    below = replace(below, cfa=min(below.cfa, sp), caller=registers, ruled=False)
    return replace(chain, steps=[*chain.steps[: level - 1], below, own, *rest])

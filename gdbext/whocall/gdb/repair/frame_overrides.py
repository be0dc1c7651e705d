"""Overrides of single frames, for damaged stacks, which no unwinding rule can express.

gdb is told where each of them leads by an unwinder of its Python API, which is registered only
while there is such a frame.

What an unwinder does not hand over counts as lost, so every register that is known in the caller is
handed over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from whocall.gdb.host import frame_cache
from whocall.gdb.target.frames import byte_order
from whocall.repair.chain import RegisterNames, Step

_ALL_BITS = 0xFFFFFFFFFFFFFFFF

Place = tuple[tuple[int, int, int], int, int]  # thread, pc, sp


class _FrameId:
    """What gdb tells frames apart by; before gdb 14 it takes nothing but values here."""

    def __init__(self, sp: gdb.Value, pc: gdb.Value) -> None:
        self.sp = sp
        self.pc = pc


def _value(number: int, kind: gdb.Type) -> gdb.Value:
    if kind.strip_typedefs().code != gdb.TYPE_CODE_FLAGS:
        return gdb.Value(number).cast(kind)
    return gdb.Value(number.to_bytes(kind.sizeof, byte_order()), kind)  # nothing is cast to flags


class _FrameOverrides(Unwinder):
    """Leads from single frames to their callers."""

    def __init__(self) -> None:
        super().__init__("whocall")
        self.steps: dict[Place, Step] = {}
        self.ends: dict[Place, Step] = {}
        self.names = RegisterNames("pc", "sp")

    def __call__(self, pending: Any) -> Any:
        """gdb asks this about every frame; None leaves the frame to gdb's own unwinders."""
        thread = gdb.selected_thread()
        if thread is None or told:
            return None
        try:
            pc, sp = pending.read_register("pc"), pending.read_register("sp")
            place = (thread.ptid, int(pc) & _ALL_BITS, int(sp) & _ALL_BITS)
        except gdb.error:
            return None  # a frame in which they are not known
        step = self.steps.get(place) or self.ends.get(place)
        if step is None:
            return None
        frame_id = _FrameId(_value(step.cfa, sp.type), _value(step.start, pc.type))
        info = pending.create_unwind_info(frame_id)
        for name, value in self._caller(step).items():
            info.add_saved_register(name, _value(value, pending.read_register(name).type))
        return info

    def _caller(self, step: Step) -> Mapping[str, int]:
        """gdb would show a caller at 0 as a frame; one that is the frame again ends the stack.

        Folklore. Situation: where the frame stands, another function is inlined. Example: a damaged
        stack that ends in __futex_abstimed_wait_common: gdb puts an inlined frame between that
        frame and itself, and the assertion that no two frames are the same ends gdb. Remedy: the
        frame again, but at an address that is no code, the CFA.
        """
        if step.caller is None:
            return {self.names.pc: step.cfa, self.names.sp: step.sp}
        return step.caller


_overrides = _FrameOverrides()
_registered = False

# Events after which registers or memory may be others, from gdb by `told.append`: as a builtin it
# cannot be interrupted half-way. While it holds one, nothing is overridden.
told: deque[Any] = deque(maxlen=1)


def _register(wanted: bool) -> None:
    global _registered
    if wanted and not _registered:
        register_unwinder(None, _overrides, replace=True)
    elif _registered and not wanted:
        gdb.frame_unwinders.remove(_overrides)
    _registered = wanted
    frame_cache.invalidate()


def override(thread: gdb.InferiorThread, step: Step, names: RegisterNames) -> bool:
    """Tells gdb where the frame leads; False when it was told before, or that is not known."""
    if told:
        clear()
    place = (thread.ptid, step.pc, step.sp)
    if place in _overrides.steps or not step.leads:
        return False
    _overrides.names = names
    _overrides.steps[place] = step
    if step.caller is None:
        _overrides.ends[thread.ptid, step.cfa, step.sp] = step
    _register(True)
    return True


def clear() -> None:
    """Forgets all frames: called whenever registers or memory may have changed."""
    if _overrides.steps or _registered:
        _overrides.steps.clear()
        _overrides.ends.clear()
        _register(False)
    told.clear()


def count() -> int:
    """How many frames gdb is led by."""
    return 0 if told else len(_overrides.steps)

"""The frames of gdb's own unwinder, as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import gdb

from whocall.base.gdb_answers import offset_told
from whocall.gdb.host import console
from whocall.gdb.host.kept import kept
from whocall.gdb.host.output import write_json
from whocall.gdb.target.threads import lwp_of
from whocall.report.comparison.verdicts import GdbFrame, GdbStack

MOST_FRAMES = 1 << 20


@contextmanager
def selection_kept() -> Iterator[None]:
    """Puts back the selected thread and frame, whatever happens inside."""
    thread = gdb.selected_thread()
    level = selected_level()

    def put_back() -> None:
        if thread is not None and thread.is_valid():
            thread.switch()
            select_level(level)

    with kept(put_back):
        yield


@contextmanager
def past_main() -> Iterator[None]:
    """gdb's `set backtrace past-main on`, and back again."""
    if gdb.parameter("backtrace past-main"):
        yield
        return
    with kept(lambda: console.said("set backtrace past-main off")):
        console.said("set backtrace past-main on")
        yield


def byte_order() -> Literal["big", "little"]:
    """That of the current program's words; gdb tells it in sentences only."""
    word = gdb.lookup_type("unsigned int")
    last_byte_set = b"\1".rjust(word.sizeof, b"\0")
    return "big" if int(gdb.Value(last_byte_set, word)) == 1 else "little"


def selected_level() -> int | None:
    """The level of the selected frame; None without one. (Frame.level is not in every gdb.)"""
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        return None
    level = 0
    while frame.newer() is not None:
        frame = frame.newer()
        level += 1
    return level


def select_level(level: int | None) -> None:
    """Selects the frame `level`, or the innermost when there are not so many any more."""
    if level is None:
        return
    try:
        frame = gdb.newest_frame()
        for _ in range(level):
            older = frame.older()
            if older is None:
                break
            frame = older
        frame.select()
    except gdb.error:
        pass  # the thread runs or is gone: there is no frame to select


class _Starts:
    """Where the functions begin that gdb takes frames for: of debug info, else of symbols."""

    def __init__(self) -> None:
        self._by_pc: dict[tuple[int, bool], int | None] = {}

    def of(self, frame: gdb.Frame, called: bool) -> int | None:
        """Runtime address; `called` says that the frame's pc is a return address."""
        key = frame.pc(), called
        if key not in self._by_pc:
            self._by_pc[key] = self._look(frame, frame.pc() - called)
        return self._by_pc[key]

    @staticmethod
    def _look(frame: gdb.Frame, at: int) -> int | None:
        try:
            function = frame.function()
            if function is not None:
                address = function.value().address
                return None if address is None else int(address)
            said = console.said("info symbol", at)
        except (gdb.error, ValueError):
            return None
        offset = offset_told(said, _name(frame) or "")
        return None if offset is None or offset > at else at - offset


def _name(frame: gdb.Frame) -> str | None:
    """The function's name as gdb has it; gdb itself gives Python none that is no UTF-8."""
    try:
        name: str | None = frame.name()
    except UnicodeDecodeError as error:
        name = error.object.decode("utf-8", "surrogateescape")
    return name


def _frame(frame: gdb.Frame, level: int, called: bool, starts: _Starts) -> GdbFrame:
    # A tail-call frame is gdb's reconstruction from debug info: like an inlined call, nothing of it
    # is on the stack.
    kind = frame.type()
    inlined = kind in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
    name = _name(frame)
    return GdbFrame(
        level=level,
        pc=frame.pc(),
        name=name,
        inlined=inlined,
        signal_trampoline=kind == gdb.SIGTRAMP_FRAME,
        start=None if inlined or name is None else starts.of(frame, called),
    )


def _stop_of(frame: gdb.Frame) -> str:
    reason = frame.unwind_stop_reason()
    if reason in (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST):
        return ""
    return str(gdb.frame_stop_reason_string(reason))


def walk(limit: int = MOST_FRAMES) -> GdbStack:
    """gdb's frames of the selected thread, `limit` at the most."""
    frames: list[GdbFrame] = []
    starts = _Starts()
    try:
        frame = gdb.newest_frame()
        while True:
            called = bool(frames) and not frames[-1].signal_trampoline
            frames.append(_frame(frame, len(frames), called, starts))
            if len(frames) >= limit:
                return GdbStack(frames, "limit reached")
            older = frame.older()
            if older is None:
                return GdbStack(frames, _stop_of(frame))
            frame = older
    except gdb.error as error:
        return GdbStack(frames, str(error))


def stack_of(thread: gdb.InferiorThread) -> GdbStack:
    """gdb's frames of `thread`, past main; call within selection_kept()."""
    thread.switch()
    with past_main():
        return walk()


def stacks_json(threads: Iterable[gdb.InferiorThread]) -> str:
    """The stacks of `threads` by LWP, as the command line takes them."""
    from dataclasses import asdict  # which takes long to be loaded

    with selection_kept():
        return json.dumps({lwp_of(thread): asdict(stack_of(thread)) for thread in threads})


def dump(lwps: Sequence[int]) -> None:
    """Prints the stacks of the threads `lwps` on one marked line of JSON.

    For the command line, which runs gdb to ask it. A core of one thread may have no LWP in gdb.
    """
    threads = list(gdb.selected_inferior().threads())
    wanted = [thread for thread in threads if lwp_of(thread) in lwps]
    if not wanted and len(threads) == 1 and len(lwps) == 1:
        wanted = threads
    write_json(["\nwhocall-frames:", stacks_json(wanted), "\n"])

"""Runs inside gdb: walk every thread's frames by gdb's own API and write them as JSON to a file.

`python output, limit = PATH, N` has been executed before. Read by oracles/gdb_bt.py; no other use.
"""

import json
from pathlib import Path
from typing import Any, Optional

import gdb

KINDS = {
    gdb.NORMAL_FRAME: "normal",
    gdb.DUMMY_FRAME: "dummy",
    gdb.INLINE_FRAME: "inline",
    gdb.TAILCALL_FRAME: "tailcall",
    gdb.SIGTRAMP_FRAME: "sigtramp",
}


def frames_of_selected_thread(limit: int) -> "tuple[list[dict[str, Any]], str]":
    """The frames, innermost first, and gdb's word on why the walk ended."""
    frames: list[dict[str, Any]] = []
    frame: Optional[Any] = gdb.newest_frame()
    stop = "limit"
    while frame is not None and (not limit or len(frames) < limit):
        frames.append(
            {"pc": frame.pc(), "kind": KINDS.get(frame.type(), "other"), "name": frame.name()}
        )
        stop = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
        try:
            frame = frame.older()
        except gdb.error as error:
            stop = str(error)
            frame = None
    return frames, stop


def all_threads(limit: int) -> "list[dict[str, Any]]":
    """Every thread of the selected inferior, by ascending gdb number."""
    threads = []
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: int(thread.num)):
        thread.switch()
        frames, stop = frames_of_selected_thread(limit)
        threads.append({"lwp": thread.ptid[1], "stop": stop, "frames": frames})
    return threads


Path(output).write_text(json.dumps(all_threads(limit)))  # type: ignore[name-defined]  # noqa: F821

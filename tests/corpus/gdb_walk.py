"""Runs inside gdb: print the physical frames of every thread as one line of JSON.

Inline frames are left out: they have no return address of their own.  So are the tail-call frames that gdb deduces from
the debug information's call sites: those functions were on the stack once, but no longer.
"""

import json

import gdb  # type: ignore[import-not-found]

LIMIT = 20000


def _walk():  # type: ignore[no-untyped-def]
    frames, stop = [], ""
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < LIMIT:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append((frame.pc(), frame.type() == gdb.SIGTRAMP_FRAME, frame.name() or ""))
        try:
            frame = frame.older()
        except gdb.error as error:
            stop, frame = str(error), None
    return frames, stop


def _main():  # type: ignore[no-untyped-def]
    result = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frames, stop = _walk()
        result[thread.ptid[1] or thread.ptid[0]] = {"frames": frames, "stop": stop}
    print("WALK " + json.dumps(result))


_main()

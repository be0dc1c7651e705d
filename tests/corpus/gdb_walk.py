"""Runs inside gdb: print the physical frames of every thread as one line of JSON.

Inline frames are left out: they have no return address of their own.
"""

import json

import gdb  # type: ignore[import-not-found]

LIMIT = 20000


def _walk():  # type: ignore[no-untyped-def]
    frames, stop = [], ""
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < LIMIT:
        if frame.type() != gdb.INLINE_FRAME:
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

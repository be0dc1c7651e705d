"""Runs inside gdb: the stacks of many cores, before `whocall repair` and after it, as JSON.

`python jobs, output = PATH, PATH` has been executed before, and whocall.py was sourced. Read by
repairruns.py; no other use.
"""

import json
import time
from pathlib import Path
from typing import Any

import gdb

import __main__


def pcs(limit: int) -> "list[int]":
    """The physical frames of the selected thread, as gdb finds them by itself."""
    found = []
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(found) < limit:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                found.append(frame.pc())
            frame = frame.older()
    except gdb.error:
        pass  # where gdb cannot go on the chain ends
    return found


def shown() -> int:
    """How many frames `bt` prints of the selected thread, inlined ones too."""
    lines = gdb.execute("bt", to_string=True).splitlines()
    return sum(line.startswith("#") for line in lines)


def chains(limit: int) -> "dict[int, list[int]]":
    """Of all threads by LWP, or by process id where gdb tells no LWP."""
    found = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        found[thread.ptid[1] or thread.ptid[0]] = pcs(limit)
    return found


def ask(job: "dict[str, Any]") -> "dict[str, Any]":
    """One core, opened, walked, repaired and walked again."""
    gdb.execute("core-file", to_string=True)
    gdb.execute("file", to_string=True)
    for command in (*job["settings"], f"file {job['exe']}", f"core-file {job['core']}"):
        gdb.execute(command, to_string=True)
    first = gdb.selected_thread()
    before = chains(job["limit"])
    first.switch()
    began = time.process_time()
    gdb.execute("whocall repair", to_string=True)
    seconds = time.process_time() - began
    after = chains(job["limit"])
    first.switch()
    return {"before": before, "after": after, "shown": shown(), "seconds": seconds}


gdb.execute("set backtrace past-main on")
answers = [ask(job) for job in json.loads(Path(__main__.jobs).read_text())]
Path(__main__.output).write_text(json.dumps(answers))

"""Runs inside gdb: the stacks of many cores, before `whocall repair` and after it, as JSON, and
what `whocall compare` has against those before.

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


def not_called_false(limit: int) -> "dict[int, list[int]]":
    """gdb's frames without those that `whocall compare` calls false, by LWP as above."""
    numbers = {thread.num: thread.ptid[1] or thread.ptid[0] for thread in
               gdb.selected_inferior().threads()}  # fmt: skip
    gdb.execute(f"set backtrace limit {limit}")
    told = json.loads(gdb.execute("whocall compare -all -json", to_string=True))
    gdb.execute("set backtrace limit unlimited")
    return {
        numbers[thread["number"]]: [
            int(row["gdb"]["pc"], 16)
            for row in thread["rows"]
            if row["gdb"] and row["verdict"] != "false in gdb" and not row["gdb"]["inlined"]
        ]
        for thread in told["threads"]
    }


def ask(job: "dict[str, Any]") -> "dict[str, Any]":
    """One core, opened, walked, repaired and walked again."""
    gdb.execute("core-file", to_string=True)
    gdb.execute("file", to_string=True)
    for command in (*job["settings"], f"file {job['exe']}", f"core-file {job['core']}"):
        gdb.execute(command, to_string=True)
    first = gdb.selected_thread()
    before = chains(job["limit"])
    first.switch()
    blameless = not_called_false(job["limit"])
    began = time.process_time()
    gdb.execute("whocall repair", to_string=True)
    seconds = time.process_time() - began
    after = chains(job["limit"])
    first.switch()
    return {
        "before": before,
        "blameless": blameless,
        "after": after,
        "shown": shown(),
        "seconds": seconds,
    }


gdb.execute("set backtrace past-main on")
answers = [ask(job) for job in json.loads(Path(__main__.jobs).read_text())]
Path(__main__.output).write_text(json.dumps(answers))

"""Inside gdb, attached to a process: waits for returns, one after the other; see returns.py."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
from typing import Any

gdb: Any = importlib.import_module("gdb")
pid, tid, seconds, claims = json.loads(os.environ["TRIAL_CLAIMS"])


def _stopped_at(pc: int, sp: int) -> bool:
    frame = gdb.newest_frame()
    mask = (1 << 64) - 1
    return frame.pc() == pc and int(frame.read_register("sp")) & mask == sp


def _returns(thread: Any, pc: int, sp: int) -> bool:
    """Whether the thread comes to `pc` with that stack pointer in time."""
    place = gdb.Breakpoint(f"*{pc:#x}", gdb.BP_HARDWARE_BREAKPOINT, internal=True)
    place.thread = thread.num
    place.condition = f"$sp == (void *) {sp:#x}"
    # A signal that does no harm when it comes too late.
    patience = subprocess.Popen(["/bin/sh", "-c", f"sleep {seconds}; kill -WINCH {pid}"])
    gdb.execute("continue", to_string=True)
    patience.kill()
    place.delete()
    return _stopped_at(pc, sp)


gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("handle SIGTRAP stop nopass", to_string=True)
gdb.execute("handle SIGWINCH stop nopass", to_string=True)
os.kill(pid, signal.SIGCONT)
for thread in gdb.selected_inferior().threads():
    if thread.ptid[1] == tid:
        thread.switch()
        for pc, sp in claims:
            if not _returns(thread, pc, sp):
                break
            print(f"returned {pc:#x}", flush=True)
gdb.execute("detach")

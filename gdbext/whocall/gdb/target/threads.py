"""gdb's threads by the kernel's numbers."""

from __future__ import annotations

import gdb


def lwp_of(thread: gdb.InferiorThread) -> int:
    """The kernel's number of the thread; where the target has no such numbers, the process's."""
    return int(thread.ptid[1] or thread.ptid[0])

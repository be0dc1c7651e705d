"""Core files of running processes by gdb's own `gcore` script, independent of the kernel's
core_pattern and limits.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from places.needs import ATTACHING, require


class GcoreFailedError(RuntimeError):
    """gcore wrote no core file; the message holds what it said."""


def gcore(pid: int, core: Path) -> Path:
    """Dump the process `pid` into the file `core` and let it go on.

    gcore appends `.PID` to the name it is given; the file is renamed, so that names do not differ
    from run to run. Its warnings (the vsyscall page is never readable) are no failures, its exit
    code is.
    """
    require(ATTACHING)
    core.parent.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    finished = subprocess.run(
        ["gcore", "-o", str(core), str(pid)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    written = core.with_name(f"{core.name}.{pid}")
    if finished.returncode or not written.exists():
        raise GcoreFailedError(
            f"gcore of {pid}: exit code {finished.returncode}\n{finished.stdout}"
        )
    return written.rename(core)

"""gdb driven from outside: one batch session, and what it said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
GDB = os.environ.get("GDB", "gdb")
# Half of a short session would be the reading of the C library's debug file, each time anew.
INDEX = ["-iex", f"set index-cache directory {os.environ['XDG_CACHE_HOME']}/gdb",
         "-iex", "set index-cache enabled on"]  # fmt: skip


@dataclass(frozen=True)
class Said:
    """What a session printed, and its exit status."""

    out: str
    err: str
    status: int


def environment(**more: str) -> dict[str, str]:
    """The environment of a session: no colours, no network, our build."""
    kept = {k: v for k, v in os.environ.items() if k not in ("DEBUGINFOD_URLS", "PYTHONPATH")}
    build = Path(os.environ["WHOCALL_BUILD_DIR"]).resolve()
    return {**kept, "TERM": "dumb", "WHOCALL_BUILD_DIR": str(build), **more}


def batch(
    commands: Sequence[str],
    arguments: Sequence[str | Path] = (),
    *,
    script: Path | None = SCRIPT,
    **more: str,
) -> Said:
    """`gdb -batch` with the extension loaded unless `script` is None, then `commands`; `more` goes
    to the environment.
    """
    line = [GDB, "-nx", "-q", "-batch", *INDEX]
    line += [] if script is None else ["-ex", f"source {script}"]
    for command in commands:
        line += ["-ex", command]
    ran = subprocess.run(
        [*line, *map(str, arguments)],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Said(ran.stdout, ran.stderr, ran.returncode)

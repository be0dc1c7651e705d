"""Every command of the command line, at work on a small crash; and what ran."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whocall.commands import own_names

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
LONGEST = 120  # seconds: a guard against hanging for ever


@dataclass(frozen=True)
class Place:
    """What commands read, and a folder in which they may write."""

    exe: Path
    core: Path
    trace: Path
    archive: Path
    folder: Path


def lines_of(place: Place) -> dict[str, list[str | Path]]:
    """Arguments by a name of their own; each writes something to standard output."""
    exe, core, folder = place.exe, place.core, place.folder
    log = folder / "log"
    log.write_text("ordinary words\n" * 3)
    found: dict[str, list[str | Path]] = {
        "bt": ["bt", core, exe],
        "bt --all": ["bt", core, exe, "--all", "--full"],
        "bt --json": ["bt", core, exe, "--json"],
        "bt --list": ["bt", "--list", "--store", folder],
        "caller": ["caller", core, exe],
        "compare": ["compare", core, exe],
        "functions": ["functions", exe],
        "symbol": ["symbol", exe, "1000"],
        "modules": ["modules", core, exe],
        "why": ["why", core, exe],
        "waits": ["waits", core, exe],
        "audit": ["audit", exe],
        "signatures": ["signatures", place.archive, "-o", folder / "made.sig"],
        "export": ["export", exe, "-o", folder / "made.debug"],
        "repair-plan": ["repair-plan", core, exe, "--folder", folder],
        "doctor": ["doctor"],
        "resolve": ["resolve", log],
        "resolve --json": ["resolve", log, "--json"],
        "unpack": ["unpack", core, "-o", folder / "made.core"],
        "shrink": ["shrink", core, exe, "-o", folder / "small.core"],
        "report": ["report", core, "--exe", exe, "--json", "--no-gdb"],
        "receive": ["receive", "--socket", folder / "crashes", "-o", folder / "received"],
        "serve": ["serve", folder, "--port", "0"],
        "triage": ["triage", core],
        "triage --json": ["triage", core, "--format", "json"],
        "trace": ["trace", place.trace],
        "--help": ["--help"],
        "bt --help": ["bt", "--help"],
        "--version": ["--version"],
        "--script-path": ["--script-path"],
    }
    told = {line[0] for line in found.values()} - {"--help", "--version", "--script-path"}
    assert told == set(own_names()), "a command is missing here"
    return found


def run(arguments: list[str | Path], **how: Any) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    given: dict[str, Any] = {
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how
    }  # fmt: skip
    environment = {**os.environ, **given.pop("env", {})}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)], text=True, errors="replace",
        env=environment, timeout=LONGEST, check=False, **given,
    )  # fmt: skip

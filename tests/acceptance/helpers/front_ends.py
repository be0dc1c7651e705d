"""What the two front ends print, started as users start them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WHOCALL = Path(__file__).resolve().parents[3] / "gdbext" / "whocall.py"

Document = dict[str, Any]


def printed(command: Sequence[str]) -> str:
    """The standard output of a command that finds the package by itself, and succeeds."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    return ran.stdout


def json_in_gdb(command: str, core: Path, exe: Path) -> Document:
    """The document that a command with -json prints inside gdb."""
    line = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    line += ["-ex", f"source {WHOCALL}", "-ex", "echo {json}", "-ex", command]
    said = printed([*line, str(exe), str(core)]).split("{json}")[1]
    found: Document = json.JSONDecoder().raw_decode(said.lstrip())[0]
    return found

"""What gdb and eu-stack, both given the symbols, say about a core: two independent voices."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

WALK = Path(__file__).with_name("gdb_walk.py")
TIMEOUT = 60
Chain = list["Claim"]


@dataclass(frozen=True)
class Claim:
    """A frame as a voice sees it."""

    pc: int
    slot: int | None = None
    """Where on the stack the pc lay as a return address, if the voice knows."""


def _without_end_marks(chain: Chain) -> Chain:
    """Both voices may print a last frame with pc 0 (or 1) beyond the outermost one."""
    while len(chain) > 1 and chain[-1].pc <= 1:
        chain = chain[:-1]
    return chain


def ask_gdb(twin: Path, core: Path) -> dict[int, Chain]:
    """The chains of all threads by tid."""
    settings = [
        "set debuginfod enabled off",
        "set index-cache enabled on",  # the C library's debug file is read but once
        "set backtrace past-main on",
        "set backtrace past-entry on",
        "set backtrace limit unlimited",
        "set auto-load off",
        "set confirm off",
    ]
    command = ["gdb", "-nx", "-q", "-batch"]
    for setting in settings:
        command += ["-iex", setting]
    command += ["-ex", f"source {WALK}", str(twin), str(core)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        errors="replace",
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("WALK ")), None)
    if line is None:
        return {}
    return {
        int(tid): _without_end_marks([Claim(pc) for pc in walk])
        for tid, walk in json.loads(line[5:]).items()
    }


def ask_eu_stack(twin: Path, core: Path) -> dict[int, Chain]:
    """The chains of all threads by tid; empty where eu-stack is missing or does not answer."""
    command = ["eu-stack", "-n", "0", f"--core={core}", f"--executable={twin}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT, errors="replace"
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return {}
    chains: dict[int, Chain] = {}
    chain: Chain = []
    for line in done.stdout.splitlines():
        if match := re.match(r"TID (\d+):", line):
            chain = chains.setdefault(int(match[1]), [])
        elif match := re.match(r"#\d+\s+0x([0-9a-f]+)", line):
            chain.append(Claim(int(match[1], 16)))
    return {tid: _without_end_marks(chain) for tid, chain in chains.items()}

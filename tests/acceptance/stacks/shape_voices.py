"""One backtrace told in five ways: the Python API, text and JSON of the command line, and gdb's.

Each is read back into places; how the text reads is another test's business.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import whocall
from acceptance.stacks.shape_chains import Place

SCRIPT = Path(whocall.__file__).resolve().parent.parent / "whocall.py"

NO_DEBUG_FILES = "/nonexistent"
"""Debug files that happen to be installed would give some frames lines, and inlined ones beside."""

Threads = dict[int, list[Place]]
"""By LWP."""

_FRAME = re.compile(
    r"#\d+ +0x([0-9a-f]+) in \S+ (?:\(.*\) (?:\+\d+ )?)?(?:near \S+ )?from (\S+) +\[[a-z?-]+\]$"
)
_HEADER = re.compile(r"Threads? [\d., ]+\(LWP ([\d., ]+)")


def by_api(core: Path) -> Threads:
    """`import whocall`."""
    with whocall.open_core(
        str(core), search=whocall.Search(debug_directories=(NO_DEBUG_FILES,))
    ) as image:
        traces = image.report().threads
        for trace in traces:
            assert trace.stop.reason in ("end-of-stack", "main"), trace.stop
            cfas = [frame.cfa for frame in trace.frames if frame.cfa is not None]
            assert len(cfas) >= len(trace.frames) - 1
            assert all(inner < outer for inner, outer in zip(cfas, cfas[1:]))
            assert [frame.level for frame in trace.frames] == list(range(len(trace.frames)))
        return {
            trace.lwp: [_place(frame.module, frame.rva) for frame in trace.frames]
            for trace in traces
        }


def by_command_line(core: Path, *, as_json: bool) -> Threads:
    """`whocall bt --all`, in another process."""
    command = [sys.executable, str(SCRIPT), "bt", "--all", "--json" if as_json else "--no-fold"]
    said = _said([*command, "--debug-directory", NO_DEBUG_FILES, str(core)])
    return _from_json(said) if as_json else _from_text(said, core)


def by_gdb(core: Path, exe: Path, *, as_json: bool) -> Threads:
    """`whocall bt -all` in gdb."""
    step = "whocall bt -all" + (" -json" if as_json else " -no-fold")
    quiet = ["-iex", f"set debug-file-directory {NO_DEBUG_FILES}"]
    command = ["gdb", "-nx", "-q", "-batch", *quiet, "-ex", f"source {SCRIPT}", "-ex", step]
    said = _said([*command, str(exe), str(core)])
    if as_json:
        return _from_json(said[said.index("\n{\n") :])
    return _from_text(said, core)


def _numbers(text: str) -> Iterator[int]:
    """Numbers and ranges: `22409..22411, 300`; LWPs start again at small numbers now and then."""
    for part in text.split(","):
        first, _, last = part.strip().partition("..")
        yield from range(int(first), int(last or first) + 1)


def _said(command: list[str]) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        command, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "Traceback" not in ran.stderr
    return ran.stdout


def _place(module: str | None, rva: int | None) -> Place:
    assert module is not None
    assert rva is not None
    return Place(module.rpartition("/")[2], rva)


def _from_json(text: str) -> Threads:
    said: dict[str, Any] = json.loads(text)
    assert said["schema"] == "whocall.backtrace/2"
    return {
        thread["lwp"]: [
            _place(frame["module"], int(frame["rva"], 16)) for frame in thread["frames"]
        ]
        for thread in said["threads"]
    }


def _from_text(text: str, core: Path) -> Threads:
    """Text has runtime addresses and folds equal stacks; the core's modules give the difference."""
    with whocall.open_core(str(core)) as image:
        biases = {module.path.rpartition("/")[2]: module.bias for module in image.modules}
    threads: Threads = {}
    chain: list[Place] = []
    headers = 0
    for line in text.splitlines():
        if header := _HEADER.match(line):
            headers += 1
            chain = []
            threads |= dict.fromkeys(_numbers(header[1]), chain)
        elif headers and (frame := _FRAME.match(line)):
            chain.append(_place(frame[2], int(frame[1], 16) - biases[frame[2]]))
        else:
            assert not headers or not line.startswith("#"), line
    return threads

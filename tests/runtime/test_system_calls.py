"""What the handler asks of the kernel: nothing but what its documentation lists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runtime.lab import PRELOAD, build

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "crash.md"


def listed() -> set[str]:
    """The calls in the line that begins so."""
    (line,) = re.findall(r"^System calls: (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    calls = set(re.findall(r"`(\w+)`", line))
    assert {"write", "rt_sigprocmask"} <= calls
    return calls


def calls_of(trace: str, thread: str) -> list[str]:
    """Of one thread, from the signal of its crash on."""
    own = [line.split(maxsplit=1)[1] for line in trace.splitlines() if line.startswith(thread)]
    begin = next(at for at, line in enumerate(own) if line.startswith("--- SIG"))
    names = (re.match(r"(?:<\.\.\. )?(\w+)(?:\(| resumed)", line) for line in own[begin + 1 :])
    return [found.group(1) for found in names if found]


@pytest.mark.parametrize("case", ["plain", "in_malloc", "call_of_nothing", "full_stack"])
def test_system_calls(tmp_path: Path, case: str) -> None:
    program = build(tmp_path, "cases.c", "-O2")
    places = {"TEXT": "text", "RECORD": "record", "RING": "ring"}
    settings = {f"WHOCALL_CRASH_{name}": tmp_path / place for name, place in places.items()}
    given = [f"{name}={value}" for name, value in settings.items()]
    variables = [f"LD_PRELOAD={PRELOAD}", "WHOCALL_CRASH_THREADS=all", *given]
    words = [word for variable in variables for word in ("-E", variable)]
    command = ["strace", "-f", "-o", tmp_path / "trace", *words, program, case]
    subprocess.run(command, capture_output=True, check=False)
    trace = (tmp_path / "trace").read_text()
    crashed = next(line for line in trace.splitlines() if "--- SIG" in line).split()[0]
    made = calls_of(trace, crashed)
    assert set(made) <= listed()
    assert {"write", "rt_tgsigqueueinfo", "rt_sigreturn"} <= set(made)
    assert (tmp_path / "text").read_text().endswith("whocall: end of the report\n")

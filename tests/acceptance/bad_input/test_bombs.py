"""Small files that cost their reader minutes or gigabytes: every command that opens one ends soon,
with a sentence or with an answer that says what was left out, and obeys Ctrl-C.

`WHOCALL_BOMBS=all python3 -m pytest tests/acceptance/bad_input/test_bombs.py` runs all commands;
without it, of each file the first.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from slowness import slowness

from acceptance.bad_input.bombs import BOMBS, Bomb
from acceptance.bad_input.bombs import table as _table  # noqa: F401  (fills BOMBS)
from acceptance.helpers.broken_files import SCRIPT

WORK = 10  # seconds of processor time, of one that is at rest
MEMORY_KIB = 1 << 20
OUTPUT = 256 << 20  # bytes
OBEDIENCE = 0.5  # seconds of processor time from SIGINT to the end
EVERYTHING = os.environ.get("WHOCALL_BOMBS") == "all"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it cost."""

    status: int
    err: str
    output: int
    seconds: float
    kib: int
    after_interrupt: float = 0.0


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (2 * WORK, 2 * WORK))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def ended(command: list[str], folder: Path, interrupt_after: float | None = None) -> Ended:
    """Runs whocall; a SIGINT comes after so much processor time, where there still is anybody."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), *command],
            env={**os.environ, "PYTHONFAULTHANDLER": "1", "XDG_CACHE_HOME": str(folder / "cache")},
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=_bounded,
        ) as process:  # fmt: skip
            before = 0.0
            while interrupt_after is not None:
                before = _used(process.pid)
                if before >= interrupt_after:
                    os.kill(process.pid, signal.SIGINT)  # send_signal() would ask for its end
                    break
                if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    break
                time.sleep(0.005)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        size = out.seek(0, os.SEEK_END)
        err.seek(0)
        seconds = used.ru_utime + used.ru_stime
        return Ended(
            process.returncode, err.read().decode("utf-8", "replace"), size, seconds,
            used.ru_maxrss, seconds - before,
        )  # fmt: skip


def _check(run: Ended, command: list[str]) -> None:
    said = f"{' '.join(command)[:200]}: {run.seconds:.1f} s, {run.kib >> 10} MiB"
    print(f"\n{said}, {run.output} bytes, status {run.status}", end="")
    assert "Traceback" not in run.err, run.err[-2000:]
    assert run.status in (0, 1), (said, run.err[-2000:])
    sentences = [line for line in run.err.splitlines() if not line.startswith("warning: ")]
    assert run.status == 0 or sentences[0].startswith("whocall: "), run.err[-2000:]
    assert run.seconds < WORK or run.seconds < WORK * slowness(), said
    assert run.kib < MEMORY_KIB, said
    assert run.output < OUTPUT, said
    assert len(run.err) < 1 << 16


def _obeys(command: list[str], folder: Path, after: float) -> bool:
    """Whether it ends soon after a SIGINT, once in three times: processors have others to serve."""
    for _ in range(3):
        stopped = ended(command, folder, interrupt_after=after)
        assert stopped.status in (0, 1, 130), stopped.err[-2000:]
        late = stopped.after_interrupt
        if late < OBEDIENCE or late < OBEDIENCE * slowness():
            return True
    return False


@pytest.mark.parametrize("one", BOMBS, ids=lambda one: f"{one.format}-{one.name}")
def test_bomb(one: Bomb, tmp_path: Path) -> None:
    commands = one.make(tmp_path)
    for at, command in enumerate(commands if EVERYTHING else commands[:1]):
        run = ended(command, tmp_path)
        _check(run, command)
        assert at > 0 or one.told in run.err, run.err[-2000:]
        if run.seconds > 2 * OBEDIENCE:
            assert _obeys(command, tmp_path, run.seconds / 2)


def test_every_format_has_five() -> None:
    formats = [one.format for one in BOMBS]
    assert all(formats.count(each) >= 5 for each in set(formats))


def test_memory_that_runs_out_is_a_sentence(tmp_path: Path) -> None:
    (bomb,) = [each for each in BOMBS if each.name == "threads_without_end"]
    for command in bomb.make(tmp_path):
        ran = subprocess.run(
            ["prlimit", f"--as={352 << 20}", sys.executable, str(SCRIPT), *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 1
        *warnings, complaint = ran.stderr.splitlines()
        assert complaint.startswith("whocall: there is not enough memory")
        assert all(line.startswith("warning: ") for line in warnings)

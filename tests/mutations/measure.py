"""Uses one mutant in a process of its own, and says what that cost and how it ended."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import whocall
from whocall.base.process_image import Walk
from whocall.report.form import jsonform

CPU_SECONDS = 2.0
"""Of opening and walking, all threads."""
MEMORY_BYTES = 500 << 20
"""Resident, with what is mapped of the files."""

STOPPED_AFTER = 60
"""Seconds of processor time, after which nobody waits any longer."""
HANGS_AFTER = 600
ADDRESS_SPACE = 8 << 30
CHECKED_BYTES = 1 << 20
"""JSON that is longer is not read again."""

WAYS: tuple[tuple[str, ...], ...] = ((), ("cfi",))
"""With all strategies, and without unwind tables."""


@dataclass
class Cost:
    """What became of a mutant. Seconds are processor time."""

    walks: list[float] = field(default_factory=list)
    """Opening and walking, each way."""
    texts: list[float] = field(default_factory=list)
    """Writing JSON, the first way."""
    frames: list[int] = field(default_factory=list)
    refused: str = ""
    memory: int = 0
    """Bytes that were resident at most."""
    faults: list[str] = field(default_factory=list)
    """Why it is an offender."""

    def as_json(self) -> dict[str, object]:
        """For a line of the record."""
        return asdict(self)


def _walk(
    core: Path, program: Path | None, lines: bool, without: Sequence[str], out: int
) -> tuple[int, float]:
    """As `whocall bt --all --json` does; how many frames, and the seconds when they were found."""
    with whocall.open_core(str(core), str(program or "")) as image:
        walk = Walk(without=tuple(without), past_main=True, lines=lines)
        report = image.report(None, walk)
        found = time.process_time()
        if not without:
            with os.fdopen(os.dup(out), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(jsonform.backtrace_text(report))
        return sum(len(trace.frames) for trace in report.threads), found


def _use(core: Path, program: Path | None, lines: bool, out: int) -> Cost:
    cost = Cost()
    for without in WAYS:
        begin = time.process_time()
        try:
            frames, found = _walk(core, program, lines, without, out)
        except whocall.Error as error:
            cost.refused = " ".join(str(error).split())
            cost.walks.append(time.process_time() - begin)
            continue
        except BaseException:
            cost.faults.append(" | ".join(traceback.format_exc().splitlines()))
            continue
        cost.walks.append(found - begin)
        if not without:
            cost.texts.append(time.process_time() - found)
        cost.frames.append(frames)
    return cost


def _child(core: Path, program: Path | None, lines: bool, out: int, answer: int) -> None:
    signal.alarm(HANGS_AFTER)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (STOPPED_AFTER, STOPPED_AFTER))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    said = json.dumps(_use(core, program, lines, out).as_json()).encode()
    with os.fdopen(answer, "wb") as pipe:
        pipe.write(said)


def _faults(cost: Cost, status: int, text: bytes) -> list[str]:
    found = []
    if os.WIFSIGNALED(status):
        found.append(f"died of {signal.Signals(os.WTERMSIG(status)).name}")
    elif status:
        found.append(f"exit status {os.waitstatus_to_exitcode(status)}")
    if max(cost.walks, default=0) > CPU_SECONDS:
        found.append(f"{max(cost.walks):.2f} s")
    if cost.memory > MEMORY_BYTES:
        found.append(f"{cost.memory >> 20} MiB")
    if text and len(text) < CHECKED_BYTES and not cost.faults and not found:
        try:
            json.loads(text)
        except ValueError as error:
            found.append(f"no JSON: {error}")
    return found


def _resident_bytes() -> int:
    """What this process holds for itself, and a child of it therefore counts as its own; of files
    a child begins with nothing.
    """
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return (int(words[1]) - int(words[2])) * resource.getpagesize()


def _measured(core: Path, program: Path | None, lines: bool) -> Cost:
    """In a child of this process, which has loaded all there is to load."""
    out = os.memfd_create("json")
    reading, writing = os.pipe()
    loaded = _resident_bytes()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with contextlib.suppress(BaseException):
            faulthandler.enable()
            _child(core, program, lines, out, writing)
            os._exit(0)
        traceback.print_exc(file=sys.stderr)
        os._exit(70)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status, usage = os.wait4(child, 0)
    cost = Cost(**json.loads(said)) if said else Cost()
    cost.memory = max(usage.ru_maxrss * 1024 - loaded, 0)
    text = os.pread(out, min(os.fstat(out).st_size, CHECKED_BYTES), 0)
    os.close(out)
    cost.faults += _faults(cost, status, text)
    return cost


class Meter:
    """A small process that forks one for each mutant: what children have resident begins with what
    their parent has, and who makes mutants maps large files.
    """

    def __init__(self) -> None:
        reading, self._asking = os.pipe()
        self._answers, writing = os.pipe()
        self._server = os.fork()
        if self._server == 0:
            os.close(self._asking)
            os.close(self._answers)
            self._serve(reading, writing)
            os._exit(0)
        os.close(reading)
        os.close(writing)
        self._said = os.fdopen(self._answers)

    @staticmethod
    def _serve(reading: int, writing: int) -> None:
        with os.fdopen(reading) as questions, os.fdopen(writing, "w") as answers:
            for line in questions:
                core, program, lines = json.loads(line)
                cost = _measured(Path(core), Path(program) if program else None, lines)
                answers.write(json.dumps(cost.as_json()) + "\n")
                answers.flush()

    def measure(self, core: Path, program: Path | None, lines: bool) -> Cost:
        """What came of the two files."""
        question = [str(core), str(program) if program else None, lines]
        os.write(self._asking, (json.dumps(question) + "\n").encode())
        return Cost(**json.loads(self._said.readline()))

    def end(self) -> None:
        """Ends the process."""
        os.close(self._asking)
        os.waitpid(self._server, 0)
        self._said.close()

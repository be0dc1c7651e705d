"""Random crashes: is every report complete, and does it say what `whocall bt` says of the core?

python3 -m runtime.campaign --count 1000    (PYTHONPATH: tests and gdbext; WHOCALL_BUILD_DIR)
python3 -m runtime.campaign --receiver      the reports that a receiver makes, of processes in which
                                            much is destroyed before they crash
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.lab import build, crash
from runtime.receivers import WHOCALL, Running, receiver

BUILDS = {
    "O0": ("-O0",),
    "O2": ("-O2",),
    "O2-static-functions-no-pie": ("-O2", "-no-pie", "-fno-pie"),
    "O2-frame-pointers": ("-O2", "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer"),
    "O1-protected": ("-O1", "-fstack-protector-all", "-fcf-protection"),
}


@dataclass
class Outcome:
    """What came of a campaign."""

    kinds: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, 0)
    """Seconds, and the seed."""

    def lines(self) -> list[str]:
        """A line for each kind of result, and one for each difference."""
        total = sum(self.kinds.values())
        counts = [f"{count:6} of {total}  {kind}" for kind, count in self.kinds.most_common()]
        slowest = "the slowest took {:.1f} s: {}".format(*self.slowest)
        return [*counts, slowest, *self.different]


def backtraces_of_core(core: Path, *words: str) -> dict[str, Any]:
    """What `whocall bt` says of it."""
    command = [sys.executable, WHOCALL, "bt", "--json", "--all", *words, core]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said
    told: dict[str, Any] = json.loads(said.stdout)
    return told


def frames_of_core(core: Path) -> list[tuple[int, str | None]]:
    """Pc and function of each frame of the thread that crashed, by `whocall bt`."""
    threads = backtraces_of_core(core)["threads"]
    crashed = next(thread for thread in threads if thread["crashed"])
    own = [frame for frame in crashed["frames"] if not frame["inlined"]]
    return [(int(frame["pc"], 16), frame["function"]) for frame in own]


def judge(program: Path, seed: int, folder: Path) -> tuple[str, str]:
    """A word for what came of one crash, and what differs."""
    reports, status, output = crash(program, str(seed), folder=folder)
    if not reports or not all(report.complete for report in reports):
        return "no complete report", f"{program.name} {seed}: {output[-300:]!r}"
    cores = list(folder.glob("core*"))
    if status >= 0 or len(cores) != 1:
        return "no core", f"{program.name} {seed}: status {status}, {cores}"
    told = reports[0].frames()
    known = frames_of_core(cores[0])
    cores[0].unlink()
    addresses = [frame.address for frame in told if frame.number < len(known)]
    wanted = [known[frame.number][0] for frame in told if frame.number < len(known)]
    if addresses != wanted:
        common = [mine == theirs for mine, theirs in zip(addresses, wanted)]
        at = common.index(False) if False in common else len(common)
        told_there = told[at].name if at < len(told) else "(end)"
        return "different", f"{program.name} {seed}: frame {at}: {told_there}, {known[at][1]}"
    if told[-1].number + 1 < len(known):
        missing = known[told[-1].number + 1][1]
        return "the core knows more", f"{program.name} {seed}: ends before {missing}"
    return "the same frames", ""


def crashed_thread(told: dict[str, Any]) -> list[tuple[str, str | None, str, bool]]:
    """Its frames: pc, function, trust, and whether it was inlined there."""
    thread = next(thread for thread in told["threads"] if thread["crashed"])
    keys = ("pc", "function", "trust", "inlined")
    return [tuple(frame[key] for key in keys) for frame in thread["frames"]]


def judge_received(program: Path, seed: int, folder: Path, running: Running) -> tuple[str, str]:
    """The same of the report that a receiver makes."""
    status, output = crash(program, str(seed), folder=folder, **running.settings)[1:]
    cores = list(folder.glob("core*"))
    if status >= 0 or len(cores) != 1:
        return "no core", f"{program.name} {seed}: status {status}, {cores}"
    told, known = running.reports(), backtraces_of_core(cores[0])
    cores[0].unlink()
    if len(told) != 1:
        return "no report", f"{program.name} {seed}: {len(told)}, {output[-300:]!r}"
    mine, theirs = crashed_thread(told[0]), crashed_thread(known)
    if mine != theirs:
        return "different", f"{program.name} {seed}: {mine} {theirs}"
    return "the same frames", ""


def run(count: int, first: int, folder: Path, by_receiver: bool = False) -> Outcome:
    """Crash with the seeds from `first` on, each build in its turn."""
    source = "destroyed.c" if by_receiver else "random_crash.c"
    programs = [build(folder, source, *flags, name=name) for name, flags in BUILDS.items()]
    if by_receiver:
        with receiver(folder, "--json") as running:

            def judged(program: Path, seed: int, place: Path) -> tuple[str, str]:
                return judge_received(program, seed, place, running)

            return _judge_all(count, first, folder, programs, judged)
    return _judge_all(count, first, folder, programs, judge)


def _judge_all(
    count: int, first: int, folder: Path, programs: list[Path], judge: Callable[..., Any]
) -> Outcome:
    outcome = Outcome()
    place = folder / "crash"
    place.mkdir()
    for seed in range(first, first + count):
        begun = time.monotonic()
        kind, detail = judge(programs[seed % len(programs)], seed, place)
        outcome.kinds[kind] += 1
        outcome.slowest = max(outcome.slowest, (time.monotonic() - begun, seed))
        if detail:
            outcome.different.append(f"{kind}: {detail}")
    return outcome


def main() -> int:
    """0 where every report is complete and none differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--receiver", action="store_true", help="reports that a receiver makes")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(options.count, options.first, Path(folder), options.receiver)
    print("\n".join(outcome.lines()))
    good = outcome.kinds["the same frames"] + outcome.kinds["the core knows more"]
    return 0 if good == options.count else 1


if __name__ == "__main__":
    raise SystemExit(main())

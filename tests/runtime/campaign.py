"""Random crashes: is every report complete, and does it say what `whocall bt` says of the core?

python3 -m runtime.campaign --count 1000    (PYTHONPATH: tests and gdbext; WHOCALL_BUILD_DIR)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from runtime.lab import build, crash

WHOCALL = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
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


def frames_of_core(core: Path) -> list[tuple[int, str | None]]:
    """Pc and function of each frame of the thread that crashed, by `whocall bt`."""
    command = [sys.executable, WHOCALL, "bt", "--json", core]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said
    threads = json.loads(said.stdout)["threads"]
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


def run(count: int, first: int, folder: Path) -> Outcome:
    """Crash with the seeds from `first` on, each build in its turn."""
    programs = [
        build(folder, "random_crash.c", *flags, name=name) for name, flags in BUILDS.items()
    ]
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
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(options.count, options.first, Path(folder))
    print("\n".join(outcome.lines()))
    good = outcome.kinds["the same frames"] + outcome.kinds["the core knows more"]
    return 0 if good == options.count else 1


if __name__ == "__main__":
    raise SystemExit(main())

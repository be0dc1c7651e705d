"""gdb's own stacks before and after `whocall repair`, of many cores in few gdbs."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run

from acceptance.helpers.damageruns import Verdict, judge

SCRIPT = Path(__file__).resolve().parents[3] / "gdbext" / "whocall.py"
WALK = Path(__file__).with_name("repaired_walk.py")


@dataclass(frozen=True)
class Job:
    """A core that gdb is asked about, and the true chains of its threads by LWP."""

    name: str
    kind: str
    bits: int
    exe: Path
    core: Path
    true: dict[int, list[int]]
    lost: Collection[int] = ()
    """Indices of frames of which nothing is left, of the crashed thread."""
    settings: Sequence[str] = ()

    @property
    def limit(self) -> int:
        """Frames of a thread after which gdb is stopped: an invented chain may have no end."""
        return 2 * max(map(len, self.true.values())) + 50


@dataclass(frozen=True)
class Outcome:
    """What gdb showed."""

    job: Job
    before: Verdict
    after: Verdict
    shown: int
    """Lines of `bt` after the repair."""
    found: list[list[int]]
    """The repaired chains in the order of the true ones."""
    seconds: float

    def message(self) -> str:
        """Both chains, for a test that fails."""
        lines = [f"{self.job.name}: {self.after}"]
        for found, true in zip(self.found, self.job.true.values()):
            lines += ["  gdb:  " + " ".join(map(hex, found)), "  true: " + " ".join(map(hex, true))]
        return "\n".join(lines)


def _without_end(found: list[int]) -> list[int]:
    """A last pc of 0 behind the outermost frame of a gdb that knows no better: no claim."""
    return found[:-1] if len(found) > 1 and found[-1] <= 1 else found


def _added(verdicts: Iterable[Verdict]) -> Verdict:
    parts = [list(vars(one).values()) for one in verdicts]
    return Verdict(*map(sum, zip(*parts)))


def _chains(job: Job, told: dict[str, list[int]]) -> list[list[int]]:
    """In the order of the true ones; a core of one thread may have no LWP in gdb."""
    if len(told) == 1 and len(job.true) == 1:
        return list(told.values())
    return [told.get(str(lwp), []) for lwp in job.true]


def _judged(job: Job, found: Sequence[list[int]]) -> Verdict:
    true = job.true.values()
    lost = [job.lost, *[()] * (len(found) - 1)]
    return _added(judge(one, other, gone) for one, other, gone in zip(found, true, lost))


def ask(jobs: Sequence[Job], place: Path) -> list[Outcome]:
    """A gdb for each word size walks the cores, since it cannot go from one size to the other."""
    found = []
    for bits in sorted({job.bits for job in jobs}):
        batch = [job for job in jobs if job.bits == bits]
        wanted, output = place / f"jobs-{bits}.json", place / f"answers-{bits}.json"
        wanted.write_text(
            json.dumps([{"exe": str(job.exe), "core": str(job.core), "limit": job.limit,
                         "settings": job.settings} for job in batch])
        )  # fmt: skip
        build = Path(os.environ["WHOCALL_BUILD_DIR"]).resolve()
        said = run(
            ["env", "-u", "PYTHONPATH", f"WHOCALL_BUILD_DIR={build}",
             "gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
             "-ex", "set pagination off", "-ex", f"source {SCRIPT}",
             "-ex", f"python jobs, output = {str(wanted)!r}, {str(output)!r}",
             "-ex", f"source {WALK}"]
        )  # fmt: skip
        assert output.exists(), said[-3000:]
        for job, answer in zip(batch, json.loads(output.read_text())):
            before = [_without_end(chain) for chain in _chains(job, answer["before"])]
            after = _chains(job, answer["after"])
            verdicts = _judged(job, before), _judged(job, after)
            found.append(Outcome(job, *verdicts, answer["shown"], after, answer["seconds"]))
    return found

"""gdb's own stacks before and after `whocall repair`, of many cores in few gdbs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run

from acceptance.helpers.damageruns import Verdict, judge, places

SCRIPT = Path(__file__).resolve().parents[3] / "gdbext" / "whocall.py"
WALK = Path(__file__).with_name("repaired_walk.py")


@dataclass(frozen=True)
class Job:
    """A core that gdb is asked about, and the true chains of its threads by LWP."""

    name: str
    kind: str
    bits: int
    exe: Path | None
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
    own: int
    """gdb's own true frames, before the repair, up to its first false one; those whose slot is
    overwritten count as well.
    """
    by_chance: int
    """Those behind a false one: where gdb knows nothing, it takes word after word of the stack for
    return addresses, and true ones are among them.
    """
    taken: list[int]
    """pcs of its own that the repair took away."""
    missed: list[int]
    """pcs of those found by chance that are no longer there."""
    blamed: list[int]
    """pcs of those that `whocall compare` calls false."""
    shown: int
    """Lines of `bt` after the repair."""
    found: list[list[int]]
    """The repaired chains in the order of the true ones."""
    seconds: float

    def message(self) -> str:
        """Both chains, for a test that fails."""
        lines = [f"{self.job.name}: {self.after}"]
        lines.append(f"  taken: {_listed(self.taken)}; blamed: {_listed(self.blamed)}")
        for found, true in zip(self.found, self.job.true.values()):
            lines += ["  gdb:  " + " ".join(map(hex, found)), "  true: " + " ".join(map(hex, true))]
        return "\n".join(lines)


def _listed(pcs: Iterable[int]) -> str:
    return " ".join(map(hex, pcs)) or "none"


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


def _true_ones(found: Sequence[list[int]], job: Job) -> list[Counter[int]]:
    """How often each pc of gdb's stands in its place in the true chain, by thread."""
    return [
        Counter(true[at] for at in places(one, true)) for one, true in zip(found, job.true.values())
    ]


def _blamed(own: Sequence[Counter[int]], blameless: Sequence[Counter[int]]) -> list[int]:
    """Nothing, where without what is called false as many stand in their places as with it: an
    address may lie on a stack twice.
    """
    pairs = list(zip(own, blameless))
    if all(sum(one.values()) <= sum(other.values()) for one, other in pairs):
        return []
    return [pc for one, other in pairs for pc in (one - other).elements()]


def _led(found: Sequence[list[int]], job: Job) -> list[list[int]]:
    """Up to the first false frame: to the end, where frames are missing between true ones."""
    led = []
    for chain, true in zip(found, job.true.values()):
        rest, end = iter(true), 0
        while end < len(chain) and chain[end] in rest:  # takes them off
            end += 1
        led.append(chain[:end])
    return led


def _taken(own: Sequence[Counter[int]], after: Sequence[Counter[int]]) -> list[int]:
    return [pc for one, other in zip(own, after) for pc in (one - other).elements()]


def ask(jobs: Sequence[Job], place: Path) -> list[Outcome]:
    """A gdb for each word size walks the cores, since it cannot go from one size to the other."""
    found = []
    for bits in sorted({job.bits for job in jobs}):
        batch = [job for job in jobs if job.bits == bits]
        wanted, output = place / f"jobs-{bits}.json", place / f"answers-{bits}.json"
        wanted.write_text(
            json.dumps([{"exe": str(job.exe or ""), "core": str(job.core), "limit": job.limit,
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
            own, kept = (_true_ones(each, job) for each in (before, after))
            led = [Counter(chain) for chain in _led(before, job)]
            gone, led_gone = _taken(own, kept), _taken(led, kept)
            found.append(
                Outcome(
                    job,
                    *verdicts,
                    sum(sum(each.values()) for each in led),
                    sum(sum((one - other).values()) for one, other in zip(own, led)),
                    led_gone,
                    list((Counter(gone) - Counter(led_gone)).elements()),
                    _blamed(own, _true_ones(_chains(job, answer["blameless"]), job)),
                    answer["shown"],
                    after,
                    answer["seconds"],
                )
            )
    return found

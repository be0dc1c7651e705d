"""The campaign: 2,000 cores of 40 bugs in 10 builds, and what triage and gdb make of them.

    python3 -m triage [--seeds 5] [--without-gdb]      (in tests/)

No part of tests/run: gdb alone takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from triage.catalog import BUILDS, bugs
from triage.crashes import Crashed, made_cores
from triage.published import casr_clusters, casr_stack, gdb_backtrace, satyr_stack
from triage.scores import Score, score

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
# The children of a process that ends count for it only when it has waited for them.
_MEASURED = """
import resource, sys
from whocall.cli.main import main
status = main(sys.argv[1:])
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime, own.ru_maxrss,
      others.ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def _triaged(
    cores: list[Crashed], jobs: int, *more: str
) -> tuple[dict[str, str], dict[str, float]]:
    """The bucket of each core; seconds of processors and of the clock, and KiB at most."""
    begun = time.monotonic()
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            _MEASURED,
            "triage",
            "-",
            "--format",
            "json",
            "-j",
            str(jobs),
            *more,
        ],
        input="\n".join(str(crashed.core) for crashed in cores),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    clock = time.monotonic() - begun
    spent, own, others = map(float, ran.stderr.split()[-3:])
    told = json.loads(ran.stdout)
    assert told["failed"] == 0, told
    buckets = {row["path"]: row["bucket"] for row in told["results"]}
    return buckets, {"cpu": spent, "clock": clock, "own": own, "worker": others}


def _by_gdb(cores: list[Crashed], truth: dict[str, str]) -> list[tuple[str, Score]]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with ThreadPoolExecutor(2) as pool:
        texts = list(
            pool.map(
                lambda each: gdb_backtrace(each.core, each.core.parents[1] / each.program), cores
            )
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"gdb -batch -ex bt: {spent / len(cores) * 1000:.1f} ms of a processor a core")
    names = [str(each.core) for each in cores]
    casr = [casr_stack(text, each.core) for text, each in zip(texts, cores)]
    satyr = [satyr_stack(text, each.core) for text, each in zip(texts, cores)]
    return [
        ("gdb's bt, CASR's equality", score(truth, dict(zip(names, casr)))),
        ("gdb's bt, CASR's clusters", score(truth, dict(zip(names, casr_clusters(casr))))),
        ("gdb's bt, satyr's hash", score(truth, dict(zip(names, satyr)))),
    ]


def _told_wrongly(cores: list[Crashed], buckets: dict[str, str]) -> None:
    homes: dict[str, dict[str, set[str]]] = {}
    for each in cores:
        homes.setdefault(each.bug, {}).setdefault(buckets[str(each.core)], set()).add(each.build)
    for bug, found in homes.items():
        if len(found) > 1:
            fewest = sorted(found.values(), key=len)[:-1]
            print(f"  {bug} is in {len(found)} buckets; apart: {[sorted(each) for each in fewest]}")


def _seed(crashed: Crashed) -> int:
    return int(crashed.core.stem.rpartition("-")[2])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--without-gdb", action="store_true")
    parser.add_argument(
        "--gdb-seeds", type=int, default=5, help="gdb reads only the cores of the first seeds"
    )
    arguments = parser.parse_args()
    cores = made_cores(list(bugs()), BUILDS, range(1, arguments.seeds + 1))
    truth = {str(each.core): each.bug for each in cores}
    print(f"{len(cores)} cores of {len(set(truth.values()))} bugs in {len(BUILDS)} builds")
    for share in (4, 2, 1):
        some = cores[::share]
        with tempfile.TemporaryDirectory() as cache:
            os.environ["XDG_CACHE_HOME"] = cache  # nothing is known before
            buckets, cost = _triaged(some, 1)
        print(
            f"{len(some):5d} cores: {cost['cpu'] / len(some) * 1000:.2f} ms of a processor a"
            f" core, {cost['clock']:.1f} s; at most {cost['own'] / 1024:.0f} MiB in the first"
            f" process, {cost['worker'] / 1024:.0f} MiB in a worker"
        )
    rows = [("whocall triage", score(truth, buckets))]
    if not arguments.without_gdb:
        some = [each for each in cores if _seed(each) <= arguments.gdb_seeds]
        fewer = {str(each.core): each.bug for each in some}
        if len(some) < len(cores):
            rows.append((f"whocall triage, {len(some)} of them", score(fewer, buckets)))
        rows += _by_gdb(some, fewer)
    print(f"{'':32} precision recall  buckets")
    for name, found in rows:
        print(f"{name:32} {found}")
    _told_wrongly(cores, buckets)


if __name__ == "__main__":
    main()

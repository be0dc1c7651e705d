"""Makes the root, builds for it, and runs in it what must be the same as here.

Prints one table of what ran. Called by scripts/arm64.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from arm64 import BUILD, ROOT, Arm64Error
from arm64.built import build
from arm64.demo import crash_report, in_gdb
from arm64.emulated import NOTHING_KEPT, Emulated, environment
from arm64.questions import Questions, all_of_them
from arm64.root import made

HERE = Path(__file__).parent
WROTE = "build/arm64/differences"
"""Below the source tree: both answers to what was answered differently."""


class Count(NamedTuple):
    """Of one row of the table."""

    passed: int
    failed: int
    skipped: int = 0
    remark: str = ""


def _shown(name: str, ours: str, theirs: str) -> bool:
    """Whether both are the same; where they are not, both are kept to be looked at."""
    if ours == theirs:
        return True
    place = ROOT / WROTE
    place.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.-]+", "_", name)
    (place / f"{stem}.here").write_text(ours)
    (place / f"{stem}.arm64").write_text(theirs)
    return False


def native_tests(root: Emulated) -> Count:
    """Those that ask for what qemu-user lacks are counted by doctest as skipped."""
    kept = {"XDG_CACHE_HOME": "/tmp/cache"}
    said = root.run([BUILD / "whocall_tests"], {**environment(BUILD), **kept}).stdout
    summary = re.search(r"test cases:.*?(\d+) passed \| +(\d+) failed(?: \| +(\d+) skipped)?", said)
    if summary is None:
        print(said[-3000:], file=sys.stderr)
        return Count(0, 1, 0, "ended early")
    passed, failed, skipped = (int(number or 0) for number in summary.groups())
    if failed:
        print(said, file=sys.stderr)
    return Count(passed, failed, skipped, "skipped: they need ptrace" if skipped else "")


def answers(questions: Questions, work: Path, root: Emulated) -> Count:
    """Of both builds, byte for byte."""
    asked = work / "questions"
    asked.write_text(json.dumps(questions))
    driver = [HERE / "answers.py", asked]
    here = {**environment(ROOT / "build" / "release"), **NOTHING_KEPT}
    python = (ROOT / "build/release/python-of-gdb").read_text().strip()
    subprocess.run([python, *driver, work / "here.json"], env=here, check=True)
    there = {**environment(BUILD), **NOTHING_KEPT}
    done = root.run(["python3", *driver, work / "there.json"], there)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return Count(0, len(questions), 0, "ended early")
    ours, theirs = (json.loads((work / f"{side}.json").read_text()) for side in ("here", "there"))
    same = [_shown(name, ours[name], theirs[name]) for name in questions]
    useful = sum("status 0\n" in text for text in ours.values())
    return Count(sum(same), len(same) - sum(same), 0, f"{useful} of them answered")


def demo(work: Path, root: Emulated) -> Count:
    """A session of gdb, and whether it says what it is to say at all."""
    ours, theirs = in_gdb(work, root)
    same = _shown("demo", ours, theirs)
    right = "now it has all" in theirs and "total_of?" in theirs
    return Count(same + right, 2 - same - right)


def report(work: Path, root: Emulated) -> Count:
    """libwhocall sees the chain down to the start of the program."""
    said = crash_report(work, root)
    frames = re.findall(r"orders\(\+0x([0-9a-f]+)\)", said)
    if len(frames) < 8:
        print(said, file=sys.stderr)
    return Count(int(len(frames) >= 8), int(len(frames) < 8), 0, f"{len(frames)} frames of orders")


def row(name: str, run: Callable[[], Count]) -> Count:
    """Runs and prints it."""
    began = time.monotonic()
    count = run()
    seconds = time.monotonic() - began
    print(
        f"{name:34} {count.passed:6} {count.failed:6} {count.skipped:7} {seconds:6.0f} s  "
        f"{count.remark}".rstrip(),
        flush=True,
    )
    return count


def main() -> int:
    """Status 0 if nothing failed."""
    if os.uname().machine == "aarch64":
        raise Arm64Error("this machine is one: run examples/demo and tests/run")
    print("arm64: making the root", flush=True)
    place = made()
    print("arm64: building build/arm64", flush=True)
    build(place / "root")
    with tempfile.TemporaryDirectory(prefix="whocall-arm64-") as name:
        work = Path(name)
        root = Emulated(place, work)
        print(f"{'in the arm64 root':34} {'passed':>6} {'failed':>6} {'skipped':>7}", flush=True)
        counts = [
            row("native tests", partial(native_tests, root)),
            row("the demo's core in gdb", partial(demo, work, root)),
            row("libwhocall's report of a crash", partial(report, work, root)),
        ]
        for subject, questions in all_of_them().items():
            counts.append(row(subject, partial(answers, questions, work, root)))
    passed = sum(count.passed for count in counts)
    failed = sum(count.failed for count in counts)
    skipped = sum(count.skipped for count in counts)
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Arm64Error as error:
        sys.exit(f"arm64: {error}")

"""The fuzzers' campaign: `cd tests && python3 -m fuzz` is a night over all targets.

    python3 -m fuzz --short          all targets together in about a minute: part of tests/run
    python3 -m fuzz --minutes 480    a night, in the foreground; corpora are kept in build/fuzz
    python3 -m fuzz --coverage       what the corpora reach of each target's own files
    python3 -m fuzz --only cfi --only minidump

Targets of native code are libFuzzer's (`cmake --preset sanitizers`), those of the package's readers
run by atheris where it can be had (build/fuzz-venv), else by mutations alone, which is said. A
finding's input lies in build/fuzz/findings, and the status is 1.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from fuzz.coverage import FLOOR, Coverage, of_native, of_reader

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PLACE = ROOT / "build" / "fuzz"
BUILD = ROOT / "build" / "sanitizers"
VENV = ROOT / "build" / "fuzz-venv"
_SHORT = 60.0  # seconds of all targets together
_EXECUTED = re.compile(r"stat::number_of_executed_units: *(\d+)|: (\d+) executions by")
# What an attacker's input may cost: seconds, MB (with what the sanitizers take beside).
_LIMITS = ("-timeout=20", "-rss_limit_mb=3000")


def _prepare() -> None:
    """Makes the Python with atheris, where there is none and the registry can be reached; without
    it the readers have mutations alone.
    """
    if (VENV / "bin" / "python").exists():
        return
    wanted = ROOT / "scripts" / "requirements-fuzz.txt"
    steps = (
        [sys.executable, "-m", "venv", str(VENV)],
        [str(VENV / "bin" / "pip"), "install", "--quiet", "-r", str(wanted)],
    )
    for step in steps:
        if subprocess.run(step, check=False).returncode != 0:
            shutil.rmtree(VENV, ignore_errors=True)
            print("atheris cannot be had: the package's readers are fuzzed by mutations alone")
            return


class Result(NamedTuple):
    """Of one target's turn."""

    name: str
    executions: int
    finding: str  # the end of what it said; empty where there is none


class Campaign:
    """Where things lie, and how long each target has."""

    def __init__(self, build: Path, seconds: float, temporary: str) -> None:
        self.build = build
        self.seconds = seconds
        python = VENV / "bin" / "python"
        self.python = str(python) if python.exists() else sys.executable
        self.environment = {
            **os.environ,
            "TMPDIR": temporary,
            "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONPATH": str(ROOT / "gdbext"),
            "WHOCALL_BUILD_DIR": str(ROOT / "build" / "release"),
        }

    def native_targets(self) -> list[str]:
        """Every source is one; one that was not built is an error."""
        return sorted(path.stem for path in HERE.glob("*.cpp"))

    def corpus(self, name: str) -> Path:
        place = PLACE / "corpora" / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def command(self, name: str, *, native: bool) -> list[str]:
        """What runs a target for its time."""
        findings = PLACE / "findings"
        findings.mkdir(parents=True, exist_ok=True)
        if not native:
            return [
                *(self.python, "-m", "fuzz.run_reader", name, "--seconds", str(self.seconds)),
                *("--corpus", str(self.corpus(name)), "--findings", str(findings)),
            ]
        seeds = PLACE / "seeds" / name
        dictionary = HERE / "dictionaries" / f"{name}.dict"
        return [
            *(str(self.build / f"whocall_fuzz_{name}"), str(self.corpus(name)), str(seeds)),
            *(f"-max_total_time={max(1, round(self.seconds))}", "-print_final_stats=1", *_LIMITS),
            f"-artifact_prefix={findings}/{name}-",
            *([f"-dict={dictionary}"] if dictionary.exists() else []),
        ]

    def run(self, name: str, *, native: bool) -> Result:
        """One target's turn."""
        ran = subprocess.run(
            self.command(name, native=native),
            cwd=ROOT / "tests",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said = ran.stdout + ran.stderr
        counts = [int(found[1] or found[2]) for found in _EXECUTED.finditer(said)]
        trouble = "" if ran.returncode == 0 else said[-3000:] or f"status {ran.returncode}"
        return Result(name, counts[-1] if counts else 0, trouble)


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=480.0, help="of all targets together")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="TARGET")
    parser.add_argument("--coverage", action="store_true", help="tell it, and fuzz nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--build", type=Path, default=BUILD, help="where the fuzzers were built")
    return parser.parse_args(words)


def _tell_coverage(campaign: Campaign, names: list[tuple[str, bool]]) -> None:
    print(f"{'target':16} {'file':40} {'reached':>13} {'share':>6}")
    for name, native in names:
        found: list[Coverage]
        if native:
            binary = campaign.build / f"whocall_fuzz_{name}"
            inputs = [campaign.corpus(name), PLACE / "seeds" / name]
            found = of_native(binary, name, inputs, campaign.environment)
        else:
            found = of_reader(name, campaign.corpus(name))
        for each in found:
            mark = "" if each.share >= FLOOR else "  below"
            counts = f"{each.covered}/{each.all}"
            print(f"{name:16} {each.file:40} {counts:>13} {each.share:6.0%}{mark}", flush=True)


def main(words: list[str]) -> int:
    """The status: 1 where something was found, or a target is missing."""
    from fuzz.readers import TARGETS

    given = _arguments(words)
    subprocess.run([HERE / "make_seeds", PLACE / "seeds"], cwd=ROOT, check=True)
    if not (given.short or given.coverage):  # a minute is not for downloads
        _prepare()
    with tempfile.TemporaryDirectory(prefix="whocall-fuzz-") as temporary:
        campaign = Campaign(given.build, 0, temporary)
        names = [(name, True) for name in campaign.native_targets()]
        names += [(name, False) for name in TARGETS]
        names = [each for each in names if not given.only or each[0] in given.only]
        if given.coverage:
            _tell_coverage(campaign, names)
            return 0
        seconds = _SHORT if given.short else given.minutes * 60
        campaign.seconds = seconds * given.jobs / max(1, len(names))
        bad = 0
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            turns = [pool.submit(campaign.run, name, native=native) for name, native in names]
            for turn in concurrent.futures.as_completed(turns):
                result = turn.result()
                bad += bool(result.finding)
                told = "FOUND" if result.finding else "nothing found"
                print(f"{result.name:16} {result.executions:>12,} executions, {told}", flush=True)
                if result.finding:
                    print(result.finding, flush=True)
    print(f"{len(names)} targets, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

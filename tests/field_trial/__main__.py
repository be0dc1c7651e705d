"""The field trial, from `tests/`: `python3 -m field_trial --keep DIR [NAME...]`.

Installs with apt-get what a program of the list needs, starts it, dumps it with gcore at five
random moments, finds the truth of each core (`truth.py`) and scores whocall's walks with all
strategies and without the unwind tables. One row a program, and the bounds at the end. It is no
part of tests/run: it needs some 3 GB of packages, 20 GB for cores, and more than an hour.

    --list                            the programs, and what is peculiar to them
    --keep DIR                        all of them; cores that are there are kept
    --keep DIR --again                score the cores that are there, start nothing
    --keep DIR --again --truth        the same with eu-stack's truth found anew
    --keep DIR --show                 the figures of the last scoring
    --keep DIR --show --explain NAME  where walk and truth differ

Run as root on Debian 12 x86-64, with build/release built (or WHOCALL_BUILD_DIR set).
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

from field_trial import paths

paths.prepare()

from oracles.tools import ToolError  # noqa: E402

from field_trial import dumping, report, truth  # noqa: E402
from field_trial.catalogue import programs  # noqa: E402
from field_trial.program import Program  # noqa: E402
from field_trial.report import MODES  # noqa: E402


def _walk(directory: Path) -> None:
    """Walks each core of a folder in each mode."""
    for core in sorted(directory.glob("*.core")):
        kept = core.with_suffix(".truth.json")
        if not kept.exists():
            continue
        exe = truth.load(kept).exe
        for mode in MODES:
            output = core.with_suffix(f".{mode}.json")
            output.unlink(missing_ok=True)
            command = [sys.executable, "-m", "field_trial.walk", str(core), exe, mode, str(output)]
            tests = paths.ROOT / "tests"
            ended = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=False)
            if ended.returncode:
                print(f"{core} {mode}: {ended.returncode} {ended.stderr[-400:]}", file=sys.stderr)


def _trial(program: Program, directory: Path, wanted: argparse.Namespace) -> None:
    if not (wanted.again or wanted.show):
        directory.mkdir(parents=True, exist_ok=True)
        try:
            dumping.dump(program, directory, wanted.moments)
        except (dumping.NotDumpedError, ToolError, OSError) as error:
            print(f"{program.name}: {error}", file=sys.stderr, flush=True)
    if wanted.truth:
        dumping.find_truth(program, directory)
    if not wanted.show:
        _walk(directory)


def _list() -> None:
    for program in programs():
        print(f"{program.group:26} {program.name:20} {program.believed:15} {program.note}")


def main() -> None:
    """The command line."""
    # Also in the background, or terminated: what was started is put away.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(prog="python3 -m field_trial", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    parser.add_argument("--moments", type=int, default=5)
    for flag in ("--list", "--again", "--truth", "--show", "--explain"):
        parser.add_argument(flag, action="store_true")
    wanted = parser.parse_args()
    if wanted.list or not wanted.keep:
        _list()
        return
    unknown = set(wanted.names) - {program.name for program in programs()}
    if unknown:
        parser.error(f"no such programs: {' '.join(sorted(unknown))}")
    rows = []
    print(report.HEAD, flush=True)
    for program in programs():
        if wanted.names and program.name not in wanted.names:
            continue
        directory = wanted.keep.resolve() / program.name
        _trial(program, directory, wanted)
        row = report.of_program(program.name, directory, program.dropped)
        if row is None:
            print(f"{program.name:20} no core", flush=True)
            continue
        rows.append(row)
        print(row.line(), flush=True)
        if wanted.explain:
            report.explain(directory)
    report.close(rows)


if __name__ == "__main__":
    main()

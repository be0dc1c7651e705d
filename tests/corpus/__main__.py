"""Build cases by hand and print their truth: `python3 -m corpus --list`, or `... DIR [NAME...]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from corpus.case import BuiltCase
from corpus.oracle import ThreadTruth
from corpus.suite import build_all, cases

SHOWN = 40
"""Frames printed of one thread at most."""


def _print_thread(thread: ThreadTruth) -> None:
    ending = "" if thread.complete else ", outermost frame unknown"
    print(f"  thread {thread.tid}: by {thread.decided_by}{ending}")
    for voice, faults in thread.errors.items():
        for fault in faults[:3]:
            print(f"    ({voice}: {fault})")
    for level, frame in enumerate(thread.frames[:SHOWN]):
        marks = ("S" if frame.is_signal_frame else " ") + ("=" if frame.is_exact else " ")
        names = f"{frame.true_name or '?'} [{frame.visible_name or '-'}]"
        module = Path(frame.module).name if frame.module else "nowhere"
        print(f"    #{level:<3}{frame.pc:#018x} {marks} {names} {module}")
    if len(thread.frames) > SHOWN:
        print(f"    ... {len(thread.frames) - SHOWN} more")


def _print_case(built: BuiltCase, brief: bool) -> None:
    truth = built.truth()
    sizes = f"{len(truth.frames)} frames by {truth.decided_by}, {len(truth.threads)} threads"
    print(f"{built.case.name}: {sizes}", flush=True)
    if not brief:
        for thread in truth.threads:
            _print_thread(thread)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python3 -m corpus", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, help="where to build")
    parser.add_argument(
        "names", nargs="*", help="programs, or patterns such as 'chain/*O2*'; all when left out"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and build nothing")
    parser.add_argument(
        "--no-tables", dest="tables", action="store_false", help="the corpus without unwind tables"
    )
    parser.add_argument("--brief", action="store_true", help="one line a case")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(case.name for case in cases(tables=arguments.tables)))
        return 0
    if arguments.directory is None:
        parser.error("a directory to build in is needed")
    begin, failed, decided = time.monotonic(), 0, Counter[str]()
    for outcome in build_all(
        arguments.directory, arguments.names or None, arguments.jobs, arguments.tables
    ):
        if outcome.built is None:
            failed += 1
            print(f"{outcome.case.name}: FAILED: {outcome.error}", flush=True)
        else:
            decided[outcome.built.truth().decided_by] += 1
            _print_case(outcome.built, arguments.brief)
    summary = ", ".join(f"{count} by {voice}" for voice, count in decided.most_common())
    print(
        f"{decided.total()} cases in {time.monotonic() - begin:.0f} s ({summary}), {failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

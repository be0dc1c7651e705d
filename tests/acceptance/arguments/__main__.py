"""Counts on many programs: `python3 -m acceptance.arguments [--count N] [--compiler NAME]...`."""

from __future__ import annotations

import argparse

from acceptance.arguments import emulated
from acceptance.arguments.score import Score
from acceptance.arguments.test_truth_of_arguments import (
    EMULATED,
    FLOORS,
    IN_TURNS,
    WITHOUT_TABLES,
)
from acceptance.arguments.truth import crash


def main() -> int:
    """Prints a line for each compiler, level and kind of tables."""
    others = (*EMULATED, *IN_TURNS)
    parser = argparse.ArgumentParser(prog="python3 -m acceptance.arguments", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="programs of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument(
        "--compiler",
        action="append",
        help=f"a compiler of this machine's programs, or one of {', '.join(others)}; "
        "gcc, clang and these without",
    )
    arguments = parser.parse_args()
    failed = False
    for compiler in arguments.compiler or ["gcc", "clang", *others]:
        crash_of = emulated.crash if compiler in others else crash
        for level in FLOORS:
            for flags in ((), WITHOUT_TABLES):
                score = Score()
                for seed in range(arguments.first, arguments.first + arguments.count):
                    score.add(crash_of(seed, compiler, level, *flags))
                kind = "without tables" if flags else "with tables"
                print(f"{compiler} {level} {kind}: {score}", *score.faults, sep="\n  ", flush=True)
                failed = failed or bool(score.faults)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())

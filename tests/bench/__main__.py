"""The command: measures the subjects, prints the table; `tests/bench/run --help` says more."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench import inputs, peers, table
from bench.figures import Figures, merged
from bench.subjects import SUBJECTS
from bench.targets import LINES, Line
from bench.workshop import Workshop

ROUNDS, SMALL_ROUNDS = 5, 2
TRIES = 3
"""How often the small form measures a subject before it says that it is too slow."""


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="tests/bench/run",
        description="Measures whocall beside its peers: processor time, the least of some rounds in"
        " which all take turns.",
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--rounds", type=int, metavar="N", help=f"how many (default {ROUNDS})")
    parser.add_argument("--markdown", action="store_true", help="print a table for a page")
    parser.add_argument(
        "--small",
        action="store_true",
        help="only what takes little; the status tells whether all that is looked at reaches its"
        " floor: 60%% of the target, or of what was last reached",
    )
    given = parser.parse_args()
    if unknown := set(given.subjects) - SUBJECTS.keys():
        parser.error(f"no such subject: {' '.join(sorted(unknown))}")
    return given


def below(lines: Sequence[Line], found: Figures, shop: Workshop) -> list[Line]:
    """Those that do not reach their floor, and those whose answers differ."""
    return [
        line
        for line in lines
        if line.theirs in shop.differing
        or line.ours in shop.differing
        or line.share(found) < line.floor
    ]


def measured_small(shop: Workshop, wanted: Sequence[str]) -> tuple[Figures, list[Line]]:
    """The figures, and the lines that stay below their floors however often they are measured."""
    found: Figures = {}
    slow: list[Line] = []
    for subject in wanted:
        lines = [line for line in LINES if line.floor and line.subject == subject]
        late: list[Line] = []
        for _ in range(TRIES if lines else 0):
            found = merged(found, SUBJECTS[subject](shop))
            late = below(lines, found, shop)
            if not late:
                break
        slow += late
    return found, slow


def main() -> int:
    """0, or 1 where the small form finds something too slow."""
    given = parsed()
    if missing := inputs.missing(*peers.TOOLS):
        print(f"not installed: {' '.join(missing)}; scripts/prepare bench does it", file=sys.stderr)
        return 2
    shop = Workshop(given.rounds or (SMALL_ROUNDS if given.small else ROUNDS), given.small)
    wanted = given.subjects or [*SUBJECTS]
    slow: list[Line] = []
    try:
        if given.small:
            found, slow = measured_small(shop, wanted)
        else:
            found = {}
            for subject in wanted:
                print(f"{subject} ...", end=" ", file=sys.stderr, flush=True)
                found |= SUBJECTS[subject](shop)
            print(file=sys.stderr)
    finally:
        shop.close()
    lines = [line for line in LINES if line.floor or not given.small]
    made = table.rows(lines, found, shop.differing)
    print(table.markdown(made) if given.markdown else table.text(made))
    versions = ", ".join(peers.versions())
    print(f"\nProcessor time, the least of {shop.rounds} rounds; {versions}.")
    for line in slow:
        print(f"below its floor of {line.floor:.0%} of the target: {line.what}, {line.peer}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

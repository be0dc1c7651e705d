"""Stock programs stopped at any moment: whocall's and eu-stack's frames, and every difference.

    PYTHONPATH=../gdbext python3 -m acceptance.stacks [--stops 20] [--seed 1] [PROGRAM...]

Exits 1 where eu-stack came to the end of a stack and whocall has not all of its frames.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter

from acceptance.stacks.anystops import at_any_moment
from acceptance.stacks.busy_programs import busy_programs

HEADS = ("stops", "frames", "theirs", "missing")


def main() -> int:
    """Prints a line for each program, what differs below it."""
    parser = argparse.ArgumentParser(prog="python3 -m acceptance.stacks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PROGRAM")
    parser.add_argument("--stops", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    total: Counter[str] = Counter()
    wrong = False
    print(f"{'program':16}" + "".join(f"{head:>10}" for head in HEADS))
    for one in busy_programs():
        if given.names and one.name not in given.names:
            continue
        found = at_any_moment(one, random.Random(f"{given.seed} {one.name}"), given.stops)
        total += found.counts
        wrong = wrong or any(each.complete for each in found.missing)
        cells = "".join(f"{found.counts[head]:>10,}" for head in HEADS)
        print(f"{one.name:16}{cells}", *found.missing, sep="\n  ", flush=True)
    print(f"{'all':16}" + "".join(f"{total[head]:>10,}" for head in HEADS))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

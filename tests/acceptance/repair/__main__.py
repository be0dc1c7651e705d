"""gdb's own true frames on every corpus: how many there are, and which of them `whocall repair`
takes away or `whocall compare` calls false.

    PYTHONPATH=../gdbext python3 -m acceptance.repair [CORPUS...]      (in tests/)

Exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from acceptance.repair.ownframes import CORPORA, complaints
from acceptance.repair.repairruns import Outcome, ask

HEADS = ("cases", "true", "gdb's", "chance", "repaired", "taken", "missed", "blamed")


def _row(name: str, outcomes: list[Outcome]) -> str:
    true = sum(map(len, (chain for each in outcomes for chain in each.job.true.values())))
    cells = (
        len(outcomes),
        true,
        sum(each.own for each in outcomes),
        sum(each.by_chance for each in outcomes),
        sum(each.after.right for each in outcomes),
        sum(len(each.taken) for each in outcomes),
        sum(len(each.missed) for each in outcomes),
        sum(len(each.blamed) for each in outcomes),
    )
    return f"{name:28}" + "".join(f"{cell:>10,}" for cell in cells)


def main() -> int:
    """Prints a table by kind."""
    parser = argparse.ArgumentParser(prog="python3 -m acceptance.repair", description=__doc__)
    parser.add_argument("corpora", nargs="*", choices=[*CORPORA, []], metavar="CORPUS")
    wanted = parser.parse_args().corpora or list(CORPORA)
    found: list[Outcome] = []
    for name in wanted:
        with tempfile.TemporaryDirectory() as place:
            found += ask(list(CORPORA[name]()), Path(place))
    print(f"{'kind':28}" + "".join(f"{head:>10}" for head in HEADS))
    kinds = dict.fromkeys(each.job.kind for each in found)
    for kind in kinds:
        print(_row(kind, [each for each in found if each.job.kind == kind]))
    print(_row("all", found))
    wrong = complaints(found)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Scores of instruction sets as a table for docs/instruction-sets.md, and the cases behind them.

python3 -m ports                   # every set that whocall knows
python3 -m ports aarch64 --cases   # with each case that is not exact, and where its files lie
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ports import voices
from ports.scoring import built, rows
from ports.sets import SETS

ENTRY = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"


def _words(name: str, tables: bool, with_cases: bool) -> str:
    found = rows(name, tables, ENTRY)
    cells = [f"{score.total.recall:.1f} / {score.total.precision:.1f}" for _, score in found]
    row = f"| {name} | {'yes' if tables else 'no'} | {' | '.join(cells)} |"
    return row + "".join(f"\n    {line}" for line in found[0][1].said) * with_cases


def main() -> None:
    """Prints as it goes."""
    parser = argparse.ArgumentParser(prog="python3 -m ports", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--cases", action="store_true", help="list what is not exact")
    parser.add_argument("--files", metavar="PART", help="only where the cases with PART lie")
    given = parser.parse_args()
    names = given.sets or [name for name, one in SETS.items() if voices.is_ported(one)]
    heads = ["whocall", *voices.VOICES, "gdb-multiarch after repair"]
    if not given.files:
        print(f"| instruction set | tables | {' | '.join(heads)} |")
        print(f"|---|---{'|---' * len(heads)}|")
    for name in names:
        for tables in (True, False):
            if not given.files:
                print(_words(name, tables, given.cases), flush=True)
                continue
            for case in built(name, tables):
                if given.files in case.case.name:
                    print(f"{case.case.name}: {case.core} {case.exe}")


if __name__ == "__main__":
    main()

"""Names by messages, function starts and rows of programs by every compiler that there is.

PYTHONPATH=../gdbext python3 -m compilers    # the system's, and those of scripts/later-compilers
python3 -m compilers gcc-16 --levels  # one, level by level, with the names that are wrong
"""

from __future__ import annotations

import argparse

from compilers.build import Corpus
from compilers.floors import FLOORS, missed
from compilers.found import WANTED, all_compilers
from compilers.measure import LEVELS, Result, of_compiler, version_line

HEADS = ("names", "wrong", "starts found", "starts true", "rows at calls", "rows")


def _cells(result: Result) -> str:
    shares = (result.recall, result.precision, result.calls, result.instructions)
    words = [str(result.names), str(len(result.wrong)), *(f"{each.percent:.2f}" for each in shares)]
    return " | ".join(words)


def main() -> None:
    """Prints as it goes; exits 1 where a floor is missed."""
    parser = argparse.ArgumentParser(prog="python3 -m compilers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="COMPILER")
    parser.add_argument("--levels", action="store_true", help="a row for each level, wrong names")
    given = parser.parse_args()
    compilers = [one for one in all_compilers() if not given.names or one.name in given.names]
    print(f"| compiler | {' | '.join(HEADS)} | below its floors |\n|---{'|---' * 7}|")
    low = False
    for compiler in compilers:
        total = Result()
        for level, result in of_compiler(compiler, tuple(LEVELS), Corpus()).items():
            total.add(result)
            if given.levels:
                print(f"| {compiler.name} {level} | {_cells(result)} | |")
                print("".join(f"    {line}\n" for line in result.wrong), end="", flush=True)
        below = missed(compiler, total)
        low = low or bool(below)
        print(f"| {compiler.name} | {_cells(total)} | {', '.join(below)} |", flush=True)
    print("\n" + "\n".join(f"{one.name}: {version_line(one)}" for one in compilers))
    absent = sorted((set(given.names or WANTED) | set(FLOORS)) - {one.name for one in compilers})
    if absent and not given.names:
        print(f"not here: {', '.join(absent)} (scripts/later-compilers unpacks what Debian has)")
    raise SystemExit(1 if low else 0)


if __name__ == "__main__":
    main()

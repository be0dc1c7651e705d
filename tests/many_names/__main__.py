"""Names of functions in files that nobody chose, held against the symbols that they ship.

Usage, in tests: python3 -m many_names [--seed N] [--files N]

Draws wheels of the Python registry by lot (Rust, C++, Cython, C), strips what has symbols in them,
and prints for each source of names how many are right and wrong; the share of functions with a name
or a place in the source before (what the file tells outright) and after; and how many words of
inferred names are right, and of true ones found.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gdbext"))

from many_names.catalogue import drawn, fetched
from many_names.judged import Tally, judged

_EACH = 2  # files of a package


def main() -> int:
    """0 where no exact source was wrong and no inferred one in more than one of a hundred."""
    parser = argparse.ArgumentParser(usage=(__doc__ or "").partition("in tests: ")[2])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--files", type=int, default=60)
    wanted = parser.parse_args()
    print(f"many_names: seed {wanted.seed}", flush=True)
    whole, files = Tally(), 0
    by_language: dict[str, Tally] = {}
    for language, package in drawn(wanted.seed):
        with tempfile.TemporaryDirectory(prefix="whocall-many-names-") as place:
            found = sorted(
                fetched(package, Path(place) / "wheel"), key=lambda each: -each.stat().st_size
            )
            for path in found[:_EACH]:
                begin = time.monotonic()
                tally = judged(path, Path(place) / "bare")
                whole.add(tally)
                by_language.setdefault(language, Tally()).add(tally)
                files += 1
                print(row(f"{language} {package} {path.name}", tally), end="")
                print(f"  {time.monotonic() - begin:.0f} s", flush=True)
            shutil.rmtree(Path(place) / "wheel", ignore_errors=True)
        if files >= wanted.files:
            break
    for language, tally in by_language.items():
        print(row(language, tally))
    print(row(f"all {files} files", whole))
    return told(whole)


def row(what: str, tally: Tally) -> str:
    """One line."""
    every = max(tally.functions, 1)
    said, true = max(tally.words_said, 1), max(tally.words_true, 1)
    return (
        f"{what[:60]:60} {tally.functions:7} functions, named {100 * tally.before / every:5.1f} -> "
        f"{100 * tally.after / every:5.1f} %, wrong {sum(tally.wrong.values())}, "
        f"words {100 * tally.words_right / said:.1f} % right, "
        f"{100 * tally.words_right / true:.1f} % found"
    )


def told(whole: Tally) -> int:
    """By source; the status."""
    from acceptance.names.true_names import INFERRED

    status = 0
    for source in sorted({*whole.named, *whole.wrong}):
        right, wrong = whole.named[source], whole.wrong[source]
        share = 100 * wrong / max(right + wrong, 1)
        print(f"{source:14} {right:8} right {wrong:6} wrong ({share:.2f} %)")
        if share > (1 if source in INFERRED else 0):
            status = 1
    for line in whole.examples[:200]:
        print(f"  {line[:240]}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())

"""What the second look at a program costs: `python3 tests/bench/second_core.py CORE [EXE]`.

Walks all threads of one core without unwind tables: with nothing known, again in the same process
(what is known of a file is kept with it), and in a new process (facts about large files are kept in
the cache directory). Prints processor time and the ratio to the first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import whocall
from whocall.core.image import Walk
whocall.open_core  # the package is loaded, the native module with it
for _ in range(2):
    begin = time.process_time()
    with whocall.open_core(sys.argv[2], sys.argv[3]) as image:
        for index in range(len(image.threads)):
            len(image.backtrace(index, Walk(without=("cfi",))).frames)
    print(time.process_time() - begin)
"""


def walks(core: str, exe: str, cache: str) -> list[float]:
    """Seconds of the first and the second walk in one new process."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    command = [sys.executable, "-c", PROGRAM, str(PACKAGE), core, exe]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return [float(line) for line in told.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description="what the second look at a program costs")
    parser.add_argument("core")
    parser.add_argument("exe", nargs="?", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        first, second = walks(given.core, given.exe, cache)
        anew, _ = walks(given.core, given.exe, cache)
    for name, seconds in (("first", first), ("same process", second), ("new process", anew)):
        print(f"{name:13} {seconds:7.3f} s  {seconds / first:6.3f} of the first")


if __name__ == "__main__":
    main()

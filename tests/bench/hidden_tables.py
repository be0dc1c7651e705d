"""How long backtraces of stock programs take with their unwind tables and with these hidden.

    PYTHONPATH=gdbext:tests WHOCALL_BUILD_DIR=build/release python3 tests/bench/hidden_tables.py

Milliseconds for all threads of a core: the first time, with everything that has to be read and
analysed, and the best of nine more, with function starts and rules known.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from stock import stock_programs

import whocall

AGAIN = 9
PLAIN, HIDDEN = whocall.Walk(lines=False), whocall.Walk(lines=False, without=("cfi",))


def _milliseconds(image: whocall.ProcessImage, walk: whocall.Walk) -> float:
    begin = time.perf_counter()
    for index in range(len(image.threads)):
        image.backtrace(index, walk)
    return 1000 * (time.perf_counter() - begin)


def main() -> None:
    """Prints a line for each stock program, and the sums."""
    sums = [0.0, 0.0]
    print(f"{'program':26}{'first':>10}{'hidden':>10}{'again':>10}{'hidden':>10}{'ratio':>8}")
    for program in stock_programs():
        with tempfile.TemporaryDirectory() as folder:
            core = program.dump(Path(folder))
            with whocall.open_core(str(core.core), str(core.exe)) as image:
                first = [_milliseconds(image, walk) for walk in (PLAIN, HIDDEN)]
                rounds = [
                    [_milliseconds(image, walk) for walk in (PLAIN, HIDDEN)] for _ in range(AGAIN)
                ]
        again = [min(times) for times in zip(*rounds, strict=True)]
        sums = [total + part for total, part in zip(sums, again, strict=True)]
        figures = "".join(f"{time_:10.2f}" for time_ in (*first, *again))
        print(f"{program.name:26}{figures}{again[1] / again[0]:8.2f}")
    print(f"{'all':46}{sums[0]:10.2f}{sums[1]:10.2f}{sums[1] / sums[0]:8.2f}")


if __name__ == "__main__":
    main()

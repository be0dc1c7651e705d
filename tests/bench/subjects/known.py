"""What the second look at a program costs, without its unwind tables: again in one process, which
keeps what it knows of a file, and in a new one, for which facts of large files are kept on disk.
"""

from __future__ import annotations

import shutil
import sys

from bench import inputs
from bench.figures import Figures, least
from bench.workshop import PACKAGE, Workshop

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import whocall
from whocall.base.process_image import Walk
whocall.open_core  # the package is loaded, the native module with it
for turn in sys.argv[4:]:
    begin = time.process_time()
    with whocall.open_core(sys.argv[2], sys.argv[3]) as image:
        for index in range(len(image.threads)):
            len(image.backtrace(index, Walk(without=("cfi",))).frames)
    print("=known/" + turn, time.process_time() - begin)
"""


def known(shop: Workshop) -> Figures:
    """All threads of a compiler's core."""
    dumped = inputs.compiler()
    if dumped is None:
        return {}
    empty = shop.place / "known"
    command = [sys.executable, "-c", PROGRAM, str(PACKAGE), str(dumped.core), str(dumped.exe)]

    def job() -> Figures:
        shutil.rmtree(empty, ignore_errors=True)
        first = shop.told([*command, "first", "again"], str(empty))()
        return first | shop.told([*command, "anew"], str(empty))()

    return least([job], shop.rounds)

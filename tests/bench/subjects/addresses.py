"""Addresses to functions, as whole processes: a file of a million functions, and many questions."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

from acceptance.helpers import function_files

from bench import inputs
from bench.figures import Figures, least
from bench.workshop import PACKAGE, Workshop

COUNT, QUESTIONS = 1_000_000, 20_000
OURS = """
import sys
from array import array
sys.path.insert(0, sys.argv[1])
import whocall
table = whocall.open_symbols(sys.argv[2])
asked = array("Q", [int(word, 16) for word in sys.argv[3:]])
for at in array("I", table.find_many(asked)):
    print(table[at].name)
"""


def addresses(shop: Workshop) -> Figures:
    """Beside llvm-symbolizer; addr2line looks through all symbols for each address."""
    file = inputs.functions(COUNT)
    chance = random.Random(1)
    last = function_files.BASE + function_files.SIZE * COUNT
    asked = [hex(chance.randrange(function_files.BASE, last)) for _ in range(QUESTIONS)]
    ours = [sys.executable, "-c", OURS, str(PACKAGE), str(file), *asked]
    theirs = ["llvm-symbolizer", f"--obj={file}", *asked]

    def names(command: Sequence[str]) -> list[str]:
        text, _ = shop.output(command)
        return [line for line in text.splitlines() if line and not line.startswith("??")]

    def complaint() -> str:
        return "" if names(ours) == names(theirs) else "other functions than ours"

    shop.check("addresses/llvm-symbolizer", complaint)
    jobs = [
        shop.process("addresses/whocall", ours),
        shop.process("addresses/llvm-symbolizer", theirs),
    ]
    return least(jobs, shop.rounds)

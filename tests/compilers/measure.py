"""What is found in one file that a compiler made, once it is stripped, and what its twin says."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from acceptance.helpers import name_twins
from acceptance.names import said_names
from acceptance.symbol_tables import start_scores
from oracles.tools import run

from compilers.build import Corpus, build
from compilers.found import Compiler
from whocall.base.native_module import native

COLD = ("-DCOLD_ASSERT",)
NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")

LEVELS: dict[str, tuple[str, ...]] = {
    "-O0": ("-O0",),
    "-O1": ("-O1",),
    "-O2": ("-O2",),
    "-O3": ("-O3",),
    "-Os": ("-Os",),
    "-O2 cold": ("-O2", *COLD),
    "-O2 cold, no tables": ("-O2", *COLD, *NO_TABLES),
    "-O2 -fcf-protection, no PIE": ("-O2", "-fcf-protection", "-fno-pie", *COLD),
    "-O2 -m32 no PIE, no tables": ("-O2", "-m32", "-fno-pie", *COLD, *NO_TABLES),
}


@dataclass
class Share:
    """How many of all."""

    good: int = 0
    all: int = 0

    @property
    def percent(self) -> float:
        """100 where there is nothing."""
        return 100 * self.good / self.all if self.all else 100.0

    def add(self, other: Share) -> None:
        """Counts those of another file too."""
        self.good += other.good
        self.all += other.all


@dataclass
class Result:
    """Of a file, or of several."""

    names: int = 0
    wrong: list[str] = field(default_factory=list)
    recall: Share = field(default_factory=Share)
    precision: Share = field(default_factory=Share)
    calls: Share = field(default_factory=Share)
    instructions: Share = field(default_factory=Share)

    def add(self, other: Result) -> None:
        """Counts those of another file too."""
        self.names += other.names
        self.wrong += other.wrong
        for name in ("recall", "precision", "calls", "instructions"):
            getattr(self, name).add(getattr(other, name))


def measure(twin: Path, has_tables: bool) -> Result:
    """All that is judged; rows only where the compiler wrote tables to judge them by."""
    names, wrong = said_names.judge(twin)
    starts = start_scores.score(twin, start_scores.bare_twin(twin, twin.parent))
    whole = [name for name in names if not name.endswith(".cold")]
    result = Result(len(whole), wrong)
    result.recall = Share(starts.found, starts.functions)
    result.precision = Share(starts.claimed - starts.false.total(), starts.claimed)
    if has_tables:
        audit = native.audit(str(name_twins.stripped(twin)), difference_limit=0)
        for kind in ("calls", "instructions"):
            count = getattr(audit, kind)
            setattr(result, kind, Share(count.return_address, count.places))
    return result


def of_compiler(compiler: Compiler, levels: tuple[str, ...], corpus: Corpus) -> dict[str, Result]:
    """By level."""
    results = {}
    for level in levels:
        flags = LEVELS[level]
        with tempfile.TemporaryDirectory() as name:
            twin = build(compiler, flags, corpus, Path(name) / "twin")
            results[level] = measure(twin, NO_TABLES[0] not in flags)
    return results


def version_line(compiler: Compiler) -> str:
    """What it writes into programs of itself: a driver may be another release's."""
    text = run([compiler.c, "-x", "c", "-S", "-o", "-", "/dev/null"])
    said = re.search(r'\.ident\s+"(.*)"', text)
    return said[1] if said else "?"

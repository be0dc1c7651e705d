"""One core walked four ways: with its unwind tables, with them hidden, with files that have none,
and by gdb with those.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from oracles import gdb_bt
from stock import StockCore

import whocall
from acceptance.helpers import chains
from acceptance.helpers.bareroot import BareRoot
from whocall.base.process_image import ProcessImage, Walk

HIDDEN = Walk(without=("cfi",), past_main=True, lines=False, demangle=False)

GDB_LIMIT = 5000
"""Frames of a thread after which gdb is stopped: no true chain of the stock programs is as long,
and an invented one may have no end.
"""

Chains = dict[int, list[int]]


@dataclass(frozen=True)
class Score:
    """Frames of a true chain that were found and missing, and printed ones that are false."""

    found: int = 0
    missing: int = 0
    false: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.found + other.found, self.missing + other.missing, self.false + other.false
        )

    @property
    def share_found(self) -> float:
        """Of the true frames."""
        return self.found / (self.found + self.missing)

    @property
    def share_false(self) -> float:
        """Of the printed frames."""
        return self.false / (self.found + self.false)


@dataclass(frozen=True)
class Scores:
    """All walks of a core against the one with tables."""

    threads: int
    frames: int
    hidden: Score
    bare: Score
    gdb: Score

    def __add__(self, other: Scores) -> Scores:
        return Scores(
            self.threads + other.threads,
            self.frames + other.frames,
            self.hidden + other.hidden,
            self.bare + other.bare,
            self.gdb + other.gdb,
        )

    def row(self) -> tuple[int, ...]:
        """Threads, frames, and found, missing and false of each walk."""
        walks = (self.hidden, self.bare, self.gdb)
        figures = [(each.found, each.missing, each.false) for each in walks]
        return self.threads, self.frames, *(figure for walk in figures for figure in walk)


def _chains(image: ProcessImage, walk: Walk | None = None) -> Chains:
    return {tid: chains.pcs(trace) for tid, trace in chains.traces(image, walk).items()}


def _score(found: Chains, true: Chains) -> Score:
    assert found.keys() == true.keys(), "not the same threads"
    differences = {tid: chains.difference(found[tid], true[tid]) for tid in true}
    missing = sum(len(each.missing) for each in differences.values())
    false = sum(len(each.false) for each in differences.values())
    return Score(sum(map(len, true.values())) - missing, missing, false)


def _without_tables(stock: StockCore, bare: BareRoot) -> Chains:
    """whocall's chains with the bare files; no table may have come from elsewhere."""
    exe = str(bare.of(stock.exe))
    with whocall.open_core(
        str(stock.core), exe, search=whocall.Search(sysroot=str(bare.root))
    ) as image:
        files = [module.file_path for module in image.modules if module.path != "[vdso]"]
        assert all(Path(file).is_relative_to(bare.root) for file in files), files
        traces = chains.traces(image)
    assert all(frame.trust != "cfi" for trace in traces.values() for frame in trace.frames)
    return {tid: chains.pcs(trace) for tid, trace in traces.items()}


def measure(stock: StockCore, bare: BareRoot) -> Scores:
    """Walks the core in all ways; the bare files are made where they are not there yet.

    A last `0x0 in ?? ()` of gdb's counts as false: it is printed like any other frame.
    """
    with whocall.open_core(str(stock.core), str(stock.exe)) as image:
        bare.add(Path(module.file_path) for module in image.modules if module.file_path)
        true = _chains(image)
        hidden = _chains(image, HIDDEN)
    by_gdb = gdb_bt.of_core(stock.core, bare.of(stock.exe), GDB_LIMIT, bare.gdb_settings())
    return Scores(
        threads=len(true),
        frames=sum(map(len, true.values())),
        hidden=_score(hidden, true),
        bare=_score(_without_tables(stock, bare), true),
        gdb=_score({tid: thread.pcs() for tid, thread in by_gdb.items()}, true),
    )

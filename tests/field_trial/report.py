"""Rows of the table, the total, the bounds, and the places where walk and truth differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from field_trial import truth
from field_trial.score import Found, Score, of_thread, parts, places

MODES = ("tables", "hidden")
LEAST_SHARE = {"tables": 0.995, "hidden": 0.98}
MOST_SECONDS, MOST_MEGABYTES = 5.0, 1024.0

HEAD = (
    f"{'program':20} {'cores':>5} {'thr':>4} {'true':>6} | {'miss':>5} {'false':>5} {'boldest':13}"
    f" | {'miss':>5} {'false':>5} {'boldest':13} | {'proved':>6} {'further':>7} {'s':>6} {'MB':>5}"
)


@dataclass
class Row:
    """The figures of one program."""

    name: str
    cores: int = 0
    threads: int = 0
    whole: int = 0
    """Threads whose truth reaches the outermost frame."""
    seconds: float = 0.0
    megabytes: float = 0.0
    apart: int = 0
    """Frames behind the truth's end that only one of the two walks shows."""
    lost: int = 0
    """Walks that came to no end."""
    scores: dict[str, Score] = field(default_factory=lambda: {mode: Score() for mode in MODES})
    stops: dict[str, Counter[str]] = field(
        default_factory=lambda: {mode: Counter() for mode in MODES}
    )

    def faults(self) -> list[str]:
        """The bounds that it misses, a sentence each."""
        said = []
        for mode, score in self.scores.items():
            if score.boldest not in ("-", "scan"):
                said.append(f"{mode}: {score.false} false, {score.boldest}")
            if score.share < LEAST_SHARE[mode]:
                said.append(f"{mode}: {score.share:.2%} of the true frames")
        if self.seconds > MOST_SECONDS:
            said.append(f"{self.seconds:.1f} s")
        if self.megabytes > MOST_MEGABYTES:
            said.append(f"{self.megabytes:.0f} MB")
        if self.lost:
            said.append(f"{self.lost} walks without an end")
        return said

    def line(self) -> str:
        """One line of the table."""
        figures = " | ".join(
            f"{score.missing:5} {score.false:5} {score.boldest:13}"
            for score in self.scores.values()
        )
        tables = self.scores["tables"]
        return (
            f"{self.name:20} {self.cores:5} {self.threads:4} {tables.true:6} |"
            f" {figures} | {tables.proved:6} {tables.further:7}"
            f" {self.seconds:6.2f} {self.megabytes:5.0f}  {'; '.join(self.faults())}"
        )

    def add(self, other: Row) -> None:
        """Adds another program's figures; of time and memory the most is kept."""
        self.cores += other.cores
        self.threads += other.threads
        self.whole += other.whole
        self.apart += other.apart
        self.lost += other.lost
        self.seconds = max(self.seconds, other.seconds)
        self.megabytes = max(self.megabytes, other.megabytes)
        for mode in MODES:
            self.scores[mode].add(other.scores[mode])
            self.stops[mode] += other.stops[mode]


@dataclass(frozen=True)
class Compared:
    """One thread of one walk beside its truth."""

    tid: int
    frames: list[Found]
    true: truth.ThreadTruth
    stop: tuple[str, str | None]


def _walked(core: Path, mode: str) -> dict[str, Any] | None:
    path = core.with_suffix(f".{mode}.json")
    if not path.exists():
        return None
    said: dict[str, Any] = json.loads(path.read_text())
    return said


def _threads(known: truth.Truth, walked: dict[str, Any]) -> Iterator[Compared]:
    for tid, true in known.threads.items():
        thread = walked["threads"].get(str(tid), {"frames": [], "stop": ("no such thread", None)})
        yield Compared(tid, [Found(*it) for it in thread["frames"]], true, tuple(thread["stop"]))


def of_program(name: str, directory: Path, dropped: Sequence[str] = ()) -> Row | None:
    """The row of all cores of a program; None without any."""
    row = Row(name)
    for core in sorted(directory.glob("*.core")):
        kept = core.with_suffix(".truth.json")
        if not kept.exists():
            continue
        known = truth.load(kept)
        row.cores += 1
        row.threads += len(known.threads)
        row.whole += sum(thread.complete for thread in known.threads.values())
        behind: dict[tuple[int, str], set[tuple[int, int]]] = {}
        for mode in MODES:
            walked = _walked(core, mode)
            if walked is None:
                row.lost += 1
                continue
            row.seconds = max(row.seconds, walked["seconds"])
            row.megabytes = max(row.megabytes, walked["megabytes"])
            for thread in _threads(known, walked):
                true = thread.true
                row.scores[mode].add(
                    of_thread(thread.frames, true.pcs, true.complete, dropped, true.returned)
                )
                if not true.complete:
                    behind[thread.tid, mode] = set(places(thread.frames))
                if thread.stop[0] != "end-of-stack":
                    row.stops[mode][thread.stop[0]] += 1
        row.apart += _apart(behind)
    return row if row.cores else None


def _apart(behind: dict[tuple[int, str], set[tuple[int, int]]]) -> int:
    """Over all threads, the frames that stand in one walk only; the last may lack its own CFA."""
    tids = {tid for tid, _ in behind}
    first, second = MODES
    return sum(len(behind.get((t, first), set()) ^ behind.get((t, second), set())) for t in tids)


def explain(directory: Path) -> None:
    """Each stretch that differs, with the frames around it."""
    for core in sorted(directory.glob("*.core")):
        kept = core.with_suffix(".truth.json")
        if not kept.exists():
            continue
        known = truth.load(kept)
        for mode in MODES:
            walked = _walked(core, mode)
            for thread in _threads(known, walked) if walked else ():
                _explain_thread(f"{core.name} {mode}", thread)


def _explain_thread(where: str, thread: Compared) -> None:
    true = thread.true
    differing = parts([it.pc for it in thread.frames], true.pcs, true.complete)
    if not differing:
        return
    end = "whole" if true.complete else true.ends
    print(f"  {where}, thread {thread.tid}: {len(true.pcs)} true frames ({end}),", end="")
    print(f" {len(true.returned)} that returned;", end="")
    print(f" stop: {thread.stop}")
    lacking = set(true.returned) - set(places(thread.frames))
    if lacking:
        print(f"    {len(lacking)} of those that returned are missing", end=":")
        print(*(f" {pc:#x} at {sp:#x}" for pc, sp in sorted(lacking, key=lambda it: it[1])[:3]))
    for part in differing[:6]:
        print(f"    {part.kind}:")
        if part.kind == "missing":
            _print_true(thread.true, part.true_begin, part.true_end)
        else:
            _print_found(thread.frames, part.begin, part.end)


def _print_true(true: truth.ThreadTruth, begin: int, end: int) -> None:
    for level in range(max(0, begin - 1), min(end, begin + 5)):
        mark = " " if level < begin else "-"
        print(f"     {mark}#{level} {true.pcs[level]:#x} {true.names[level]}")


def _print_found(frames: Sequence[Found], begin: int, end: int) -> None:
    for level in range(max(0, begin - 1), min(end, begin + 5)):
        it = frames[level]
        mark = " " if level < begin else "+"
        module = Path(it.module).name if it.module else "nowhere"
        cfa = f"{it.cfa:#x}" if it.cfa else "-"
        print(f"     {mark}#{level} {it.pc:#x} {it.function} {module} cfa {cfa}", end="")
        print(f" [{it.trust}] {it.evidence}")


def close(rows: Sequence[Row]) -> None:
    """The total, the stops that came early, and the rows that miss a bound."""
    total = Row("total")
    for row in rows:
        total.add(row)
    print(total.line())
    shares = ", ".join(f"{mode} {total.scores[mode].share:.3%}" for mode in MODES)
    print(f"{len(rows)} programs; {shares}; {total.whole} of {total.threads} truths are whole")
    for row in rows:
        for mode in MODES:
            if row.stops[mode]:
                print(f"  early: {row.name} {mode}: {dict(row.stops[mode])}")
        if row.apart:
            print(f"  behind the truth's end, in one walk only: {row.name}: {row.apart} frames")
    bad = [row for row in rows if row.faults()]
    print(f"{len(bad)} programs miss a bound: {' '.join(row.name for row in bad) or '-'}")

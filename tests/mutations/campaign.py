"""Mutants one after another: written over copies of the originals, measured, and taken back."""

from __future__ import annotations

import argparse
import json
import mmap
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from mutations.choice import Mutant, mutant
from mutations.kinds import CORE, PROGRAM
from mutations.layout import Layout, layout_of
from mutations.measure import Cost, Meter
from mutations.originals import original


def add_options(parser: argparse.ArgumentParser, what: str, directory: Path) -> None:
    """How many of what, where the record lies, and what is done once more."""
    parser.add_argument("--count", type=int, default=1000, help=f"how many {what}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--directory", type=Path, default=directory)
    parser.add_argument("--repeat", type=int, nargs="+", metavar=("SEED", "NUMBER"))
    parser.add_argument("--keep", type=Path, help="with --repeat: a folder for the damaged files")


class Copies:
    """Copies of the originals that may be damaged: one process' own."""

    def __init__(self, originals: Path, directory: Path) -> None:
        self._originals = originals
        self._directory = directory
        self.layout_of = cache(self._read)

    def _read(self, name: str) -> Layout:
        """The layout of an original, of which a copy is made too."""
        layout = layout_of(original(name, self._originals))
        place = self._directory / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(layout.original.core, place / CORE)
        if layout.original.program is not None:
            shutil.copy(layout.original.program, place / PROGRAM)
        return layout

    def _data(self, name: str, file: str) -> mmap.mmap:
        layout = self.layout_of(name)
        elf = layout.core if file == CORE else layout.program
        assert elf is not None
        return elf.data

    def files(self, name: str) -> tuple[Path, Path | None]:
        """Core and program of an original."""
        has_program = self.layout_of(name).program is not None
        place = self._directory / name
        return place / CORE, place / PROGRAM if has_program else None

    def damage(self, it: Mutant) -> tuple[Path, Path | None]:
        """Core and program as the mutant has them."""
        place = self._directory / it.original
        for change in it.changes:
            with (place / change.file).open("r+b") as file:
                if change.data is None:
                    file.truncate(change.at)
                    continue
                size = len(self._data(it.original, change.file))
                file.seek(change.at)
                file.write(change.data[: size - change.at])
        return self.files(it.original)

    def restore(self, it: Mutant) -> None:
        """The original bytes again."""
        for name in {change.file for change in it.changes}:
            data = self._data(it.original, name)
            with (self._directory / it.original / name).open("r+b") as file:
                for change in it.changes:
                    if change.file == name:
                        size = len(data) if change.data is None else len(change.data)
                        file.seek(change.at)
                        file.write(data[change.at : change.at + size])


def try_one(
    copies: Copies, meter: Meter, seed: int, number: int, keep: Path | None = None
) -> dict[str, Any]:
    """What became of one mutant, as a line of the record; `keep` is a folder for its files."""
    it = mutant(seed, number, copies.layout_of)
    core, program = copies.damage(it)
    try:
        cost = meter.measure(core, program, it.lines)
        if cost.faults and _by_time_alone(cost):  # who was disturbed deserves another try
            again = meter.measure(core, program, it.lines)
            cost = min(cost, again, key=lambda each: max(each.walks, default=60.0))
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for path in (core, program):
                if path is not None:
                    shutil.copy(path, keep)
    finally:
        copies.restore(it)
    line = {"seed": seed, "number": number, "original": it.original, "kind": it.kind}
    return {**line, **cost.as_json()}


def _by_time_alone(cost: Cost) -> bool:
    return all(fault.endswith(" s") for fault in cost.faults)


def record(copies: Copies, meter: Meter, seed: int, numbers: Iterable[int], path: Path) -> None:
    """Appends a line for each mutant; says on standard error what offends."""
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for number in numbers:
            begin = time.monotonic()
            line = try_one(copies, meter, seed, number)
            line["elapsed"] = round(time.monotonic() - begin, 3)
            file.write(json.dumps(line) + "\n")
            if line["faults"]:
                print(f"{number} {line['original']} {line['kind']}: {line['faults']}",
                      file=sys.stderr, flush=True)  # fmt: skip


def run(directory: Path, seed: int, count: int, jobs: int) -> Path:
    """The campaign, going on where an earlier run of it was stopped. Returns the record."""
    with copies_in() as place:
        return _run(directory, place, seed, count, jobs)


@contextmanager
def leaving() -> Iterator[None]:
    """At the end, however it comes, the process is gone: its parent has other work to do."""
    status = 1
    try:
        yield
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


@contextmanager
def copies_in() -> Iterator[Path]:
    """A folder for the copies, in memory where that can be: some are of hundreds of megabytes."""
    memory = Path("/dev/shm")
    place = tempfile.mkdtemp(prefix="mutations-", dir=memory if memory.is_dir() else None)
    try:
        yield Path(place)
    finally:
        shutil.rmtree(place)


def _run(directory: Path, place: Path, seed: int, count: int, jobs: int) -> Path:
    path = directory / f"{seed}.jsonl"
    done = {line["number"] for line in read(path)}
    left = [number for number in range(count) if number not in done]
    children = []
    for job in range(jobs):
        child = os.fork()
        if child == 0:
            with leaving():
                meter = Meter()
                copies = Copies(directory / "originals", place / str(job))
                record(copies, meter, seed, left[job::jobs], path)
                meter.end()
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a record; none if there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

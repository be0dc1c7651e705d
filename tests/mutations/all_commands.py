"""Damaged files by the thousand, each given to one of all commands, and some of them in gdb.

    python3 -m mutations.all_commands --count 50000 --jobs 2     # in `tests`: the campaign
    python3 -m mutations.all_commands --repeat 1 4711 --keep DIR

Every run ends by itself, with what it found or a sentence, within 5 s of processor time and 1 GB;
what it prints is printable, and JSON where that was asked for. gdb lives on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fuzz.reader_mutations import mutated
from places.needs import allow_cores

from mutations import choice, runs
from mutations.campaign import Copies, add_options, copies_in, leaving, read
from mutations.choice import mutant
from mutations.forms import FORMS, IN_GDB, Form, Given, form_of
from mutations.originals import ORIGINALS, original
from mutations.others import others

DIRECTORY = runs.ROOT / "build" / "mutations" / "commands"
LARGE = ("java", "luajit", "sbcl", "go-deep", "c-deep", "c-deep-pointer")
"""Whose walks alone are dear: `tests/mutations` has them."""
GDB_EVERY = 16
SERVE_EVERY = 250
LARGEST = 16 << 20
PIECE = 4096


class Bench:
    """One process' own copies, inputs and folder."""

    def __init__(self, directory: Path, place: Path) -> None:
        self._copies = Copies(directory / "originals", place / "copies")
        self._folder = place / "written"
        self._folder.mkdir(parents=True)
        self._given = place / "given"
        self._others = others(self._copies, list(choice.ORIGINALS))

    def run(self, seed: int, number: int, keep: Path | None = None) -> dict[str, Any]:
        """What became of one damaged input, as a line of the record."""
        chance = random.Random(f"{seed}/{number}/form")
        it = mutant(seed, number, self._copies.layout_of)
        core, program = self._copies.damage(it)
        form = form_of(chance)
        if program is None and form.takes == "program":
            form = FORMS[0]
        try:
            given = self._files(form, chance, core, program)
            name, ran = self._used(form, given, number)
            if keep is not None:
                _keep(given, keep)
        finally:
            self._copies.restore(it)
            runs.emptied(self._folder)
        kind = it.kind if form.takes in ("core", "program") else form.takes
        return {
            "seed": seed, "number": number, "original": it.original, "kind": kind, "form": name,
            "status": ran.status, "seconds": round(ran.seconds, 3), "memory": ran.memory,
            "faults": ran.faults,
        }  # fmt: skip

    def _files(self, form: Form, chance: random.Random, core: Path, program: Path | None) -> Given:
        if form.takes in ("core", "program"):
            return Given(self._folder, core, program)
        file = self._given.with_suffix(f".{form.takes}")
        data = chance.choice(self._others[form.takes])
        file.write_bytes(_damaged(form.takes, data, chance))
        return Given(self._folder, core, program or Path(sys.executable), file)

    @staticmethod
    def _used(form: Form, given: Given, number: int) -> tuple[str, runs.Ran]:
        if given.file is None and number % SERVE_EVERY == SERVE_EVERY - 1:
            return "serve", runs.served(given)
        if given.file is None and number % GDB_EVERY == 0:
            commands = IN_GDB[number // GDB_EVERY % len(IN_GDB)]
            return f"gdb: {commands[0]}", runs.run_in_gdb(given, commands)
        return form.name, runs.run(form, given)


def _damaged(kind: str, data: bytes, chance: random.Random) -> bytes:
    """A piece of it, of what is mostly empty one that is not."""
    pieces = range(0, len(data), PIECE)
    full = [at for at in pieces if data.find(0) < 0 or data[at : at + PIECE].strip(b"\0")]
    at = chance.choice(full) if len(data) > PIECE else 0
    piece = mutated(kind, data[at : at + PIECE], chance.randrange(1 << 32), LARGEST)
    if len(data) > PIECE and chance.random() < 0.9:  # what stands behind it stays where it was
        piece = piece[:PIECE].ljust(min(PIECE, len(data) - at), b"\0")
    return data[:at] + piece + data[at + PIECE :]


def _keep(given: Given, keep: Path) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    for path in (given.core, given.program, given.file):
        if path is not None:
            (keep / path.name).write_bytes(path.read_bytes())


def record(bench: Bench, seed: int, numbers: Iterable[int], path: Path) -> None:
    """Appends a line for each run; says on standard error what offends."""
    with path.open("a", encoding="utf-8", buffering=1) as file:
        for number in numbers:
            line = bench.run(seed, number)
            file.write(json.dumps(line) + "\n")
            if line["faults"]:
                print(f"{number} {line['form']} {line['original']} {line['kind']}:"
                      f" {line['faults']}", file=sys.stderr, flush=True)  # fmt: skip


def campaign(directory: Path, seed: int, count: int, jobs: int) -> list[dict[str, Any]]:
    """All runs, going on where an earlier campaign was stopped."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in choice.ORIGINALS:
        original(name, directory / "originals")
    path = directory / f"{seed}.jsonl"
    done = {line["number"] for line in read(path)}
    left = [number for number in range(count) if number not in done]
    runs.loaded()
    with copies_in() as place:
        children = []
        for job in range(jobs):
            child = os.fork()
            if child == 0:
                with leaving():
                    record(Bench(directory, place / str(job)), seed, left[job::jobs], path)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    return [line for line in read(path) if line["number"] < count]


def told(lines: list[dict[str, Any]]) -> int:
    """The table; how many offend."""
    rows = defaultdict(list)
    for line in lines:
        rows[line["form"]].append(line)
    print(f"{'':36} {'runs':>7} {'refused':>8} {'offend':>7} {'most s':>7} {'most MiB':>9}")
    for name, each in [*sorted(rows.items()), ("all", lines)]:
        refused = sum(line["status"] == 1 for line in each)
        offend = sum(bool(line["faults"]) for line in each)
        seconds = max((line["seconds"] for line in each), default=0)
        memory = max((line["memory"] for line in each), default=0) >> 20
        print(f"{name:36} {len(each):7} {refused:8} {offend:7} {seconds:7.2f} {memory:9}")
    return sum(bool(line["faults"]) for line in lines)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python3 -m mutations.all_commands", description=__doc__)
    add_options(parser, "runs", DIRECTORY)
    arguments = parser.parse_args(words)
    allow_cores()
    choice.ORIGINALS = {name: row for name, row in ORIGINALS.items() if name not in LARGE}
    directory = arguments.directory.resolve()
    if arguments.repeat:
        seed, *numbers = arguments.repeat
        runs.loaded()
        with copies_in() as place:
            bench = Bench(directory, place / "0")
            lines = [bench.run(seed, number, arguments.keep) for number in numbers]
        print("\n".join(json.dumps(line, indent=1) for line in lines))
        return 1 if any(line["faults"] for line in lines) else 0
    return 1 if told(campaign(directory, arguments.seed, arguments.count, arguments.jobs)) else 0


if __name__ == "__main__":
    sys.exit(main())

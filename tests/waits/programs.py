"""Programs that tell what their threads wait for, and what whocall tells of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
from acceptance.helpers.broken_files import SCRIPT
from corpus.crash import ENVIRONMENT, crash

import whocall

HERE = Path(__file__).parent
SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "waits-1.json").read_text())
PATIENCE = 120  # seconds until a program's threads wait as they should, on a busy machine

Told = dict[str, Any]


@dataclass
class Truth:
    """As tests/waits/locks.c says it. Threads by their names; the last line on each counts."""

    threads: dict[str, int] = field(default_factory=dict)
    waits: dict[str, tuple[str, int, str]] = field(default_factory=dict)  # kind, address, owner
    deadlocks: list[set[str]] = field(default_factory=list)

    @staticmethod
    def of(text: str) -> Truth:
        """Of what a program wrote."""
        truth = Truth()
        for line in text.splitlines():
            word, *rest = line.split()
            if word == "thread":
                truth.threads[rest[0]] = int(rest[1])
            elif word == "wait":
                truth.waits[rest[0]] = (rest[1], int(rest[2], 16), rest[3])
            elif word == "deadlock":
                truth.deadlocks.append(set(rest))
        assert truth.waits or truth.threads, text
        return truth


def compiled(source: str, exe: Path, *command: str, strips: bool = True) -> Path:
    """The program of tests/waits/SOURCE, without its symbols."""
    if not exe.exists():
        exe.parent.mkdir(parents=True, exist_ok=True)
        made = exe.with_suffix(".new")
        quiet = [] if "rustc" in command[0] else ["-w"]
        subprocess.run([*command, *quiet, str(HERE / source), "-o", str(made)], check=True)
        if strips:
            subprocess.run(["strip", str(made)], check=True)
        made.rename(exe)
    return exe


def core_of(exe: Path, case: str, place: Path) -> tuple[Path, Truth]:
    """The core of a case, and what the program said."""
    place.mkdir(parents=True, exist_ok=True)
    variables = {"WHOCALL_CASE": case, "WHOCALL_CORE": "1"}
    core = crash(exe, place, variables=variables, errors=place / "said").core
    return core, Truth.of((place / "said").read_text())


@contextmanager
def running(
    exe: Path, case: str, place: Path, command: list[str] | None = None
) -> Iterator[tuple[int, Truth]]:
    """The process of a case, once its threads wait; `command` runs it, if it is given."""
    place.mkdir(parents=True, exist_ok=True)
    said = place / "said"
    with said.open("wb") as errors:
        process = subprocess.Popen(
            command or [exe], env={**ENVIRONMENT, "WHOCALL_CASE": case}, stderr=errors, cwd=place
        )
    try:
        end = time.monotonic() + PATIENCE
        while "done" not in said.read_text():
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < end, said.read_text()
            time.sleep(0.02)
        yield process.pid, Truth.of(said.read_text())
    finally:
        process.kill()
        process.wait()


@contextmanager
def in_call(exe: Path, number: int, *arguments: str) -> Iterator[int]:
    """The process of a program, once its one thread is in that call of the kernel."""
    with subprocess.Popen([exe, *arguments], env=ENVIRONMENT) as process:
        try:
            end = time.monotonic() + PATIENCE
            while not Path(f"/proc/{process.pid}/syscall").read_text().startswith(f"{number} "):
                assert time.monotonic() < end
                time.sleep(0.02)
            yield process.pid
        finally:
            process.kill()


def waits(*arguments: str | Path) -> str:
    """What `whocall waits` prints."""
    line = [sys.executable, str(SCRIPT), "waits", *map(str, arguments)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(*arguments: str | Path) -> Told:
    """The same as data."""
    document: Told = json.loads(waits(*arguments, "--json"))
    jsonschema.validate(document, SCHEMA)
    return document


def agree(document: Told, truth: Truth, knows_owner: bool = True, kinds: bool = True) -> None:
    """What is told is what the program said. Unless `knows_owner`, the locks keep none; unless
    `kinds`, what a thread waits for may be told as less than it is, and never as something else.
    """
    by_lwp = {thread["lwp"]: thread for thread in document["threads"]}
    names = {lwp: name for name, lwp in truth.threads.items()}
    for name, (kind, address, owner) in truth.waits.items():
        thread = by_lwp[truth.threads[name]]
        found = names.get((thread["owner"] or {}).get("lwp", 0))
        allowed = {kind} if kinds else {kind, "futex"}
        assert thread["waits_for"] in allowed, (name, thread)
        if address and thread["waits_for"] == kind:
            assert int(thread["object"], 16) == address, (name, thread)
        if owner == "-" or not (knows_owner or kind == "join"):
            assert found is None, (name, thread)
        elif kinds:
            assert found == owner, (name, thread)
        else:
            assert found in (owner, None), (name, thread)
    rings = [
        {names[by_number["lwp"]] for by_number in document["threads"]
         if by_number["number"] in cycle["threads"]}
        for cycle in document["cycles"] if cycle["deadlock"]
    ]  # fmt: skip
    wanted = truth.deadlocks if knows_owner else []
    assert sorted(map(sorted, rings)) == sorted(map(sorted, wanted)) or (
        not kinds and all(ring in wanted for ring in rings)
    )

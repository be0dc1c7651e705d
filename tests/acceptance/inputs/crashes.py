"""A program that crashes once: its plain core and the minidump that Crashpad's handler writes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jsonschema
from artifact_cache import Tool, compilers, kept
from corpus.crash import ENVIRONMENT

import whocall
from whocall.base.process_image import Walk

TOOLS = Path(__file__).resolve().parents[3] / "build" / "crash-tools"
HANDLER = TOOLS / "crashpad_handler"
SOURCE = Path(__file__).with_name("crashing.c")

Chains = list[list[tuple[int, str]]]


@dataclass(frozen=True)
class Crash:
    """One crash of one process, told twice."""

    exe: Path
    core: Path
    minidump: Path


def ran(command: Sequence[str | Path], **more: object) -> str:
    """What a tool prints; its complaints fail the test."""
    found = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **more,  # type: ignore[call-overload]
    )
    assert found.returncode == 0, f"{command}: {found.stdout[-2000:]}{found.stderr[-2000:]}"
    said: str = found.stdout
    return said


def _crash(folder: Path, flags: str) -> Path:
    """gdb writes the core at the signal and lets go: then the process crashes into its handler."""
    exe, core, database = folder / "crashing", folder / "plain.core", folder / "database"
    ran(["gcc", *flags.split(), "-pthread", "-Wl,--build-id", "-o", exe, SOURCE])
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    command += ["-ex", "set startup-with-shell off", "-ex", "run"]
    command += ["-ex", f"generate-core-file {core}", "-ex", "detach", str(exe)]
    ran(command, env={**ENVIRONMENT, "HANDLER": str(HANDLER), "DATABASE": str(database)})
    _wait_for(database, folder / "crash.dmp")
    return folder


def _wait_for(database: Path, place: Path) -> None:
    """The handler works on when gdb has let go."""
    import time

    for _ in range(600):
        found = [path for path in database.glob("pending/*.dmp") if path.stat().st_size]
        if found and found[0].with_suffix(".meta").exists():
            found[0].rename(place)
            return
        time.sleep(0.05)
    raise AssertionError(f"Crashpad's handler wrote no minidump below {database}")


def crash(name: str, flags: str) -> Crash:
    """Made once on a machine; nobody changes the files."""

    def make(place: Path) -> Path:
        folder = place / name
        folder.mkdir()
        return _crash(folder, flags)

    assert HANDLER.exists(), f"{HANDLER} is missing: run scripts/crash-tools"
    recipe = (name, flags, [SOURCE, Path(__file__)], compilers("gcc"), Tool(str(HANDLER)))
    folder = kept((*recipe, Tool("gdb")), make)
    return Crash(folder / "crashing", folder / "plain.core", folder / "crash.dmp")


def valid(word: str, document: dict[str, object]) -> None:
    """Fails where the document is not of the schema `word`, which ships with the package."""
    version = str(document["schema"]).rpartition("/")[2]
    place = Path(whocall.__file__).parent / "schema" / f"{word}-{version}.json"
    jsonschema.validate(document, json.loads(place.read_text()))


def chains(path: Path | str, exe: str = "", **search: object) -> Chains:
    """The frames of all threads, the crashed one first: pcs and functions."""
    where = whocall.Search(**search)  # type: ignore[arg-type]
    with whocall.open_core(os.fspath(path), exe, search=where) as image:
        report = image.report(walk=Walk(past_main=True, lines=False))
        ordered = sorted(report.threads, key=lambda trace: not trace.crashed)
        return [[(frame.pc, frame.function or "") for frame in trace.frames] for trace in ordered]

"""Every command in its forms, each with the damaged input that it is given."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from whocall.commands import own_names


@dataclass(frozen=True)
class Given:
    """What a run has: damaged files, and a folder for what it writes."""

    folder: Path
    core: Path | None = None
    program: Path | None = None
    file: Path | None = None
    """Of another kind than those two."""

    @property
    def pair(self) -> list[str]:
        """Core and program, as far as they are there."""
        return [str(path) for path in (self.core, self.program) if path is not None]

    @property
    def place(self) -> Path:
        """Where the core lies."""
        return self.core.parent if self.core is not None else self.folder

    @property
    def exe(self) -> list[str]:
        """The program as an option."""
        return ["--exe", str(self.program)] if self.program is not None else []


@dataclass(frozen=True)
class Form:
    """A way to run a command."""

    name: str
    weight: float
    takes: str
    """What is damaged: core (and program), program, or one of `others.py`'s kinds."""
    words: Callable[[Given], list[str]]
    json: bool = False
    """Whether what it prints is one JSON text."""


def _core(name: str, weight: float, *options: str, json: bool = False) -> Form:
    return Form(
        name + "".join(f" {each}" for each in options),
        weight,
        "core",
        lambda given: [name, *given.pair, *options],
        json,
    )


def _program(name: str, weight: float, *options: str, json: bool = False) -> Form:
    return Form(
        " ".join((name, *options)),
        weight,
        "program",
        lambda given: [name, str(given.program), *options],
        json,
    )


def _file(kind: str, weight: float, name: str, *options: str) -> Form:
    return Form(f"{name} {kind}", weight, kind, lambda given: [name, str(given.file), *options])


FORMS = (
    _core("bt", 4, "--all"),
    _core("bt", 3, "--all", "--full", "--explain"),
    _core("bt", 3, "--all", "--json", json=True),
    _core("bt", 2, "--without", "cfi,frame-pointer"),
    _core("caller", 1),
    _core("modules", 1),
    _core("modules", 1, "--json", json=True),
    _core("why", 2),
    _core("waits", 1),
    _core("waits", 1, "--json", json=True),
    Form("repair-plan", 2, "core",
         lambda given: ["repair-plan", *given.pair, "--folder", str(given.folder)]),
    Form("unpack", 1, "core",
         lambda given: ["unpack", str(given.core), "-o", str(given.folder / "made.core")]),
    Form("shrink", 1, "core",
         lambda given: ["shrink", *given.pair, "-o", str(given.folder / "small.core")]),
    Form("shrink --private", 1, "core",
         lambda given: ["shrink", *given.pair, "--private",
                        "-o", str(given.folder / "small.core")]),
    Form("report --json", 1, "core",
         lambda given: ["report", str(given.core), *given.exe, "--json", "--no-gdb"], json=True),
    Form("report", 1, "core",
         lambda given: ["report", str(given.core), *given.exe, "--no-gdb",
                        "-o", str(given.folder / "page.html")]),
    Form("triage", 0.5, "core",
         lambda given: ["triage", str(given.core), "--search", str(given.place)]),
    Form("compare", 0.15, "core", lambda given: ["compare", *given.pair]),
    Form("bt --list", 0.3, "core",
         lambda given: ["bt", "--list", "--store", str(given.place)]),
    _program("functions", 2),
    _program("functions", 1, "--json", json=True),
    _program("symbol", 2, "main", "0x1139", "0x401136"),
    _program("audit", 1),
    Form("export", 1, "program",
         lambda given: ["export", str(given.program), "-o", str(given.folder / "made.debug")]),
    _file("trace", 3, "trace"),
    _file("log", 2, "resolve"),
    Form("signatures", 2, "archive",
         lambda given: ["signatures", str(given.file), "-o", str(given.folder / "made.sig")]),
    Form("functions --signatures", 1, "signatures",
         lambda given: ["functions", str(given.program), "--signatures", str(given.file)]),
    Form("functions --symbols", 1, "names",
         lambda given: ["functions", str(given.program), "--symbols", str(given.file)]),
    _file("dump", 3, "bt", "--all"),
    _file("dump", 1, "why"),
    Form("unpack dump", 1, "dump",
         lambda given: ["unpack", str(given.file), "-o", str(given.folder / "made.core")]),
    _file("dump", 0.5, "triage"),
)  # fmt: skip
WITHOUT_INPUT = {"doctor", "receive"}
"""They read no file of somebody else's; what crashing processes say has tests of its own."""
SERVED = {"serve"}
"""It answers what is asked of it: `runs.served`."""
assert {form.words(Given(Path(), Path(), Path(), Path()))[0] for form in FORMS} | (
    WITHOUT_INPUT | SERVED
) == set(own_names()), "a command is missing here"

IN_GDB = (
    ("whocall bt", "whocall bt -all -json"),
    ("whocall bt -full -explain", "whocall why"),
    ("whocall repair", "bt 20", "info frame", "up 2", "whocall repair off"),
    ("whocall compare", "whocall caller"),
    ("whocall waits", "whocall modules"),
    ("whocall functions", "whocall symbol main"),
    ("set whocall helper off", "whocall bt -all", "whocall frame 1"),
    ("whocall repair", "thread apply all -q bt 20"),
)


def form_of(chance: random.Random) -> Form:
    """One by its weight."""
    (form,) = chance.choices(FORMS, [each.weight for each in FORMS])
    return form

"""What the functions of a crashed program were handed: the registers at each call by single steps,
which of them are parameters by the debug info that the tested file has not.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import compilers, kept, sources
from corpus.crash import crash as corpus_crash
from corpus.stepper import compiled_stepper

from acceptance.arguments import programs

# A function that is entered by a jump has the registers of no call.
DIALECT = ("-g", "-w", "-fno-optimize-sibling-calls")
# What keeps a function's parameters as they are written.
APART = {"gcc": "noipa", "clang": "noinline"}
SIZES = """
import gdb, json
scalars = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_CHAR)
sizes = {}
for name in NAMES:
    function = gdb.lookup_global_symbol(name)
    fields = [field.type.strip_typedefs() for field in function.type.fields()]
    assert all(field.code in scalars for field in fields)
    sizes[name] = [field.sizeof for field in fields]
print(json.dumps(sizes))
"""


@dataclass(frozen=True)
class Crash:
    """A program that crashed, and what each of its functions on the stack was handed."""

    core: Path
    stripped: Path
    functions: dict[str, tuple[int, int]]  # link address and bytes of each function
    handed: dict[int, list[int]]  # by the frame's CFA: what is in the places of arguments
    sizes: dict[str, list[int]]  # of each function's parameters, bytes
    sysroot: str = ""  # where its libraries lie


def ran(*command: str | Path, cwd: Path | None = None) -> str:
    """What it says; it has to succeed."""
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def functions_of(twin: Path) -> dict[str, tuple[int, int]]:
    """Link address and bytes of each."""
    rows = [line.split() for line in ran("nm", "-S", twin).splitlines()]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}


def sizes_of(twin: Path, names: list[str], place: Path, gdb: str = "gdb") -> dict[str, list[int]]:
    """Of each function's parameters, by the debug info."""
    script = place / "sizes.py"
    script.write_text(SIZES.replace("NAMES", repr(names)))
    quiet = ["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    told = ran(gdb, *quiet, "-x", script, twin)
    sizes: dict[str, list[int]] = json.loads(told.splitlines()[-1])
    return sizes


def _handed(record: Path) -> dict[int, list[int]]:
    found = {}
    (line,) = record.read_text().splitlines()
    for call in line.split()[1:]:
        place, _, values = call.partition("=")
        if values:
            found[int(place.split(":")[0], 16) + 8] = [int(one, 16) for one in values.split(",")]
    return found


def program_text(seed: int, compiler: str, most: int = 6) -> str:
    """The program for a compiler, of functions with up to so many parameters."""
    apart = APART[compiler.partition("-")[0]]
    return programs.source(seed, most).replace("noipa_or_noinline", apart)


def _made(place: Path, seed: int, compiler: str, flags: tuple[str, ...]) -> Crash:
    (place / "program.c").write_text(program_text(seed, compiler))
    twin, stripped = place / "twin", place / "program"
    ran(compiler, *DIALECT, *flags, "program.c", "-o", "twin", cwd=place)
    ran("strip", "-o", stripped, twin)
    crashed = corpus_crash(stripped, place, stepper=compiled_stepper())
    assert crashed.steps is not None
    names = [name for name in functions_of(twin) if name.startswith("f") and name[1:].isdigit()]
    names += ["mix", "touch", "fill"]
    sizes = sizes_of(twin, names, place)
    return Crash(crashed.core, stripped, functions_of(twin), _handed(crashed.steps), sizes)


def crash(seed: int, compiler: str, *flags: str) -> Crash:
    """The program of this seed, made once on a machine."""
    texts = sources(Path(__file__).parent)
    recipe = ("handed", seed, compiler, flags, compilers(compiler), texts, compiled_stepper())
    return kept(recipe, lambda place: _made(place, seed, compiler, flags))

"""The programs of this folder in several builds, their cores, and whose frames are in them."""

from __future__ import annotations

import bisect
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from artifact_cache import compilers, kept
from corpus.crash import ENVIRONMENT, TIMEOUT, Crash, crash, set_limits
from oracles import eu_stack
from places.needs import OWN_CORES, require

import whocall
from acceptance.helpers import chains
from whocall.base.model import Backtrace, Frame

PROGRAMS = Path(__file__).with_name("programs")
GCC = ("gcc -O0", "gcc -O2", "gcc -O2 -fomit-frame-pointer")
EVERY = (*GCC, "gcc -O2 -fno-omit-frame-pointer", "clang -O0", "clang -O2")
I386 = ("gcc -m32 -O0", "gcc -m32 -O2")
AARCH64 = tuple(f"aarch64-linux-gnu-gcc {how} -static" for how in ("-O0", "-O2"))
"""Static, so that names are one file's. eu-stack has frames there that are none: see `witness`."""


@dataclass(frozen=True)
class Place:
    """A code address that is the same in every run: in which file, and where."""

    file: str
    address: int


@dataclass(frozen=True)
class Case:
    """A build of a program, and what it is told to disturb."""

    program: str
    build: str
    defines: tuple[str, ...] = ()
    disturbed: str = "yes"

    def __str__(self) -> str:
        return "-".join((self.program, *self.build.split(), *self.defines, self.disturbed))


@cache
def _symbols(twin: Path) -> tuple[list[int], list[str]]:
    """The functions of a file, by link address."""
    told = subprocess.run(
        ["nm", "-n", "--defined-only", str(twin)], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split() for line in told.splitlines()]
    functions = [line for line in lines if len(line) == 3 and line[1] in "tTwW"]
    return [int(line[0], 16) for line in functions], [line[2] for line in functions]


@dataclass(frozen=True)
class Built:
    """The stripped program and its twin."""

    exe: Path
    twin: Path

    def name(self, place: Place, activation: bool) -> str:
        """What the twin calls the function there; of another file, its name."""
        if place.file != self.exe.name:
            return place.file
        starts, names = _symbols(self.twin)
        at = bisect.bisect_right(starts, place.address - (0 if activation else 1)) - 1
        return names[at].partition(".")[0] if at >= 0 else "?"  # of clones and parts as well


def built(case: Case) -> Built:
    """The case's files, made once on a machine."""
    source = PROGRAMS / f"{case.program}.c"
    command = [
        *case.build.split(), "-w", "-pthread", *(f"-D{define}" for define in case.defines),
        f"-I{PROGRAMS}", str(source), "-o", case.program + ".twin",
    ]  # fmt: skip

    def build(place: Path) -> Built:
        subprocess.run(command, cwd=place, check=True)
        exe, twin = place / case.program, place / f"{case.program}.twin"
        driver = case.build.split()[0]
        strip = driver.removesuffix("gcc") + "strip" if driver.endswith("-gcc") else "strip"
        subprocess.run([strip, "-o", str(exe), str(twin)], check=True)
        return Built(exe, twin)

    recipe = ("returns", command, source, PROGRAMS / "disturb.h", compilers(case.build.split()[0]))
    return kept(recipe, build)


def crashed(case: Case, disturbed: bool = True) -> Crash:
    """How the program ends, told to disturb its stack or not."""
    made = built(case)
    word = case.disturbed if disturbed else None

    def run(place: Path) -> Crash:
        if case.build in AARCH64:
            return _emulated(made.exe, place, word)
        return crash(made.exe, place, variables={"DISTURBED": word} if word else None)

    if case.build in AARCH64:
        require(OWN_CORES)
    # The path as well: the core tells it, and of a static program eu-stack looks there alone, where
    # nothing is left when the program was made anew and its first copy is gone.
    return kept(("returns crash", str(case), str(made.exe), made.exe, word), run)


def _emulated(exe: Path, place: Path, word: str | None) -> Crash:
    told = ["-E", f"DISTURBED={word}"] if word else []
    subprocess.run(
        ["qemu-aarch64", *told, str(exe)],
        cwd=place,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        preexec_fn=set_limits,
    )
    (core,) = place.glob("qemu_*.core")
    return Crash(core)


def ours(case: Case, disturbed: bool = True) -> Backtrace:
    """whocall's backtrace of the thread that died."""
    found = chains.of_core(crashed(case, disturbed).core, built(case).exe)
    return next(trace for trace in found.values() if trace.crashed)


def places_of(frames: Sequence[Frame]) -> list[Place]:
    """Where physical frames are; outside all files their addresses tell."""
    return [
        Place(Path(frame.module).name, frame.rva)
        if frame.module is not None and frame.rva is not None
        else Place("", frame.pc)
        for frame in frames
    ]


def names_of(case: Case, trace: Backtrace) -> list[str]:
    """Of the functions of whocall's frames, as the twin has them."""
    frames = chains.physical(trace)
    return [
        built(case).name(place, frame.interrupted)
        for place, frame in zip(places_of(frames), frames)
    ]


def eu_names(case: Case, disturbed: bool) -> tuple[list[Place], list[str]]:
    """eu-stack's chain of the thread that died, by the modules that whocall found."""
    core = crashed(case, disturbed).core
    exe = built(case).exe
    said = eu_stack.of_core(core, exe)
    with whocall.open_core(str(core), str(exe)) as image:
        modules = [(one.path, one.begin, one.end, one.bias) for one in image.modules]
    frames = said.threads[next(iter(said.threads))]
    places = []
    for frame in frames:
        places.append(
            next(
                (
                    Place(Path(path).name, frame.pc - bias)
                    for path, begin, end, bias in modules
                    if begin <= frame.pc - 1 < end
                ),
                Place("", frame.pc),
            )
        )
    activations = [frame.activation for frame in frames]
    names = [built(case).name(*pair) for pair in zip(places, activations)]
    return places, names


def witness(case: Case) -> tuple[list[Place], list[str]]:
    """The chain of a stack that was not disturbed: eu-stack's.

    On AArch64 it takes what the innermost function's link register was left with for a caller, so
    there the witness is whocall itself, where tables lead through.
    """
    if case.build not in AARCH64:
        return eu_names(case, disturbed=False)
    trace = ours(case, disturbed=False)
    assert {frame.trust for frame in trace.frames} == {"context", "cfi"}
    return places_of(chains.physical(trace)), names_of(case, trace)


def message(case: Case, trace: Backtrace, wanted: object) -> str:
    """For a test that fails."""
    return f"{case}\n{chains.listing(trace)}\n{names_of(case, trace)}\nwanted: {wanted}"

"""One case: a program in a variant for an instruction set, from source to core and truth."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from artifact_cache import Tool, kept, sources
from corpus.catalog import SOURCES, Program
from corpus.crash import ENVIRONMENT, set_limits
from corpus.variants import CPP_COMPILERS, LINK_FLAGS, NO_TABLES, TABLES
from oracles.distribution import clang_for
from places.needs import OWN_CORES, require

from ports import stub_core
from ports.elf import Core, Elf
from ports.matrix import ALL_BUILDS, OWN, Variant, selection
from ports.sets import InstructionSet
from ports.truth import ThreadTruth, truth_of

STACK = 512 * 1024
"""Bytes of each further thread. The first has 8 MiB, qemu's least; it dumps all of them."""


class CaseError(Exception):
    """A case could not be built, or did not crash."""


@dataclass(frozen=True)
class BuiltCase:
    """A crashed case: its files."""

    case: Case
    core: Path
    exe: Path
    twin: Path

    @property
    def sysroot(self) -> str:
        """Where its libraries lie."""
        return self.case.of.sysroot

    @cached_property
    def truth(self) -> list[ThreadTruth]:
        """What is known of each thread, the crashed one first."""
        return truth_of(Core(self.core), Elf(self.twin), self.case.program, self.case.of.pc_at)


@dataclass(frozen=True)
class Case:
    """Nothing is built until `kept`."""

    of: InstructionSet
    program: Program
    variant: Variant
    tables: bool

    @property
    def name(self) -> str:
        """`SET/PROGRAM/VARIANT`, unique."""
        more = "" if self.tables else "-notables"
        return f"{self.of.name}/{self.program.name}/{self.variant.name}{more}"

    @property
    def source(self) -> Path:
        """Of the program."""
        return SOURCES / self.program.source

    def command(self) -> list[str]:
        """The compiler with its flags."""
        variant, triple = self.variant, self.of.triple
        cpp = self.program.is_cpp
        if variant.compiler == "clang":
            driver = [CPP_COMPILERS["clang"] if cpp else "clang", *clang_for(triple)]
        else:
            driver = [f"{triple}-{CPP_COMPILERS['gcc'] if cpp else 'gcc'}"]
        pointer = "-fno-omit-frame-pointer" if variant.frame_pointer else "-fomit-frame-pointer"
        return [
            *driver,
            *("-w", f"-{variant.optimisation}", pointer, f"-I{SOURCES}"),
            *self.of.flags,
            *(self.of.extra if variant.extra else ()),
            *chain(*LINK_FLAGS[variant.link]),
            *(TABLES if self.tables else NO_TABLES),
            *(f"-D{define}" for define in self.program.defines),
            *self.program.flags,
        ]

    def kept(self) -> BuiltCase:
        """Built once on a machine; CaseError when that fails."""
        tools = [Tool(self.command()[0]), Tool(self.of.qemu), Tool(f"{self.of.triple}-ld")]
        libc = Path(self.of.sysroot) / "lib" / "libc.so.6"
        headers = sources(SOURCES, OWN, suffixes=(".h",))
        text = self.source.read_bytes()
        words = [word for word in self.command() if not word.startswith("-I")]
        recipe = ("port, sparse", self.name, words, STACK, text, headers, tools, libc)
        core, exe, twin = kept(recipe, self._build)
        return BuiltCase(self, core, exe, twin)

    def _build(self, place: Path) -> tuple[Path, Path, Path]:
        twin, exe = place / f"{self.program.name}.twin", place / self.program.name
        command = [*self.command(), str(self.source), "-pthread", "-o", str(twin)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CaseError(f"{self.name}: {done.stderr[-2000:]}")
        shutil.copy(twin, exe)
        subprocess.run([f"{self.of.triple}-strip", "--strip-all", str(exe)], check=True)
        return self._crash(exe, place), exe, twin

    def _crash(self, exe: Path, place: Path) -> Path:
        """qemu's own core, which the kernel writes besides, is made small and thrown away."""
        require(OWN_CORES)
        command = [self.of.qemu, "-L", self.of.sysroot, str(exe)]
        core = place / f"{exe.name}.core"
        if self.of.stub:
            stub_core.crash(command, self.of.stub, core, cwd=place, env=ENVIRONMENT,
                            preexec_fn=lambda: set_limits(stack=STACK, dumped=0))  # fmt: skip
            return self._small(core)
        try:
            subprocess.run(
                command,
                cwd=place,
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=60,
                check=False,
                preexec_fn=lambda: set_limits(stack=STACK, dumped=0),
            )
        except subprocess.TimeoutExpired as error:
            raise CaseError(f"{self.name}: does not crash") from error
        for host in place.glob("core*"):
            host.unlink()
        cores = list(place.glob("qemu_*.core"))
        if len(cores) != 1:
            raise CaseError(f"{self.name}: wrote {len(cores)} cores")
        return self._small(cores[0].rename(core))

    def _small(self, core: Path) -> Path:
        """Nearly all of its 8 MiB is a stack that nobody used: hundreds of those fill what is
        kept.
        """
        subprocess.run(["fallocate", "--dig-holes", str(core)], check=True)
        return core


def cases(of: InstructionSet, tables: bool, builds: int = ALL_BUILDS) -> list[Case]:
    """The cases of a set, so many builds of each program."""
    chosen = selection(of, tables, builds)
    return [Case(of, program, variant, tables) for program, variant in chosen]


def build_all(wanted: list[Case], jobs: int = 2) -> Iterator[BuiltCase]:
    """Build cases, `jobs` at a time, in order."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(Case.kept, wanted)

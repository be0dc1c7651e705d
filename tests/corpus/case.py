"""One case of the corpus: a program in a variant, from source to core and truth."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from artifact_cache import Tool, compilers, kept, sources

from corpus.build import Binaries, CorpusError, compile_program
from corpus.catalog import SOURCES, Program
from corpus.corefile import Core
from corpus.crash import crash
from corpus.names import debug_file
from corpus.oracle import Truth, truth_of
from corpus.stepper import compiled_stepper
from corpus.variants import Variant

HERE = Path(__file__).parent
CHOOSING = ("catalog.py", "suite.py")
"""Modules that say which cases there are; what a case becomes, the others say."""


@dataclass(frozen=True)
class Case:
    """A program in a variant; nothing is built until `build`."""

    program: Program
    variant: Variant

    @property
    def name(self) -> str:
        """`PROGRAM/VARIANT`, unique."""
        return f"{self.program.name}/{self.variant.name}"

    def recipe(self) -> tuple[object, ...]:
        """All that decides what becomes of it: see `kept`."""
        program = self.program
        texts = [SOURCES / name for name in (program.source, program.library) if name is not None]
        headers = sources(*sorted({path.parent for path in texts} | {SOURCES}), suffixes=(".h",))
        code = sources(HERE, but=CHOOSING)
        tools = (Tool("gdb"), Tool("eu-stack"))
        wherever = replace(program, source=texts[0].name)  # the checkout lies
        compiler = self.variant.driver(program.is_cpp)
        return wherever, self.variant, texts, headers, code, compilers(compiler, "gcc"), tools

    def kept(self) -> BuiltCase:
        """Built and with its truth found, once on a machine; CorpusError when that fails."""

        return self.kept_as((), self.build)

    def kept_as(self, more: object, build: Callable[[Path], BuiltCase]) -> BuiltCase:
        """The same in another way, which `more` adds to the recipe."""

        def make(place: Path) -> BuiltCase:
            built = build(place)
            return replace(built, known=built.truth())

        built = kept((self.recipe(), more), make, outside=BuiltCase.loaded_files)
        return replace(built, case=self)

    def build(self, directory: Path) -> BuiltCase:
        """Compile, strip and crash below DIRECTORY/PROGRAM/VARIANT; CorpusError when that fails."""
        place = directory.resolve() / self.program.name / self.variant.name
        place.mkdir(parents=True, exist_ok=True)
        binaries = compile_program(self.program, self.variant, place)
        return self.crashed(binaries, place)

    def crashed(self, binaries: Binaries, place: Path, dumped: int | None = None) -> BuiltCase:
        """Run what was built, with the core below PLACE/run; CorpusError where it dies otherwise.

        `dumped` is a coredump_filter other than the kernel's default.
        """
        stepper = compiled_stepper() if self.variant.needs_steps else None
        whole = "PROTECTION=PROT_EXEC" in self.program.defines
        run = crash(binaries.exe, place, self.program.stack_limit, stepper, dumped, whole=whole)
        built = BuiltCase(self, run.core, binaries, run.steps)
        died_of = built.loaded.threads[0].signal
        musl = self.program.musl_signal if self.variant.compiler == "musl-gcc" else None
        expected = musl or self.program.signal
        if died_of != signal.Signals[expected]:
            raise CorpusError(
                f"{self.name}: died of {signal.Signals(died_of).name}, not of {expected}"
            )
        return built


@dataclass(frozen=True)
class BuiltCase:
    """A crashed case: its files, and its truth on demand."""

    case: Case
    core: Path
    binaries: Binaries
    steps: Path | None = None
    """The stepper's record, where the oracle needs one."""
    known: Truth | None = field(default=None, compare=False)
    """The truth, where it was found before."""

    def loaded_files(self) -> Iterator[Path]:
        """The system's files on which core and truth hang: libraries, and their debug files."""
        for name in {mapping.path for mapping in self.loaded.mappings}:
            path = Path(name)
            if path.is_file():
                yield path
                if (debug := debug_file(path)) is not None:
                    yield debug

    @property
    def exe(self) -> Path:
        """The stripped executable that crashed."""
        return self.binaries.exe

    @property
    def twin(self) -> Path:
        """The same executable with symbols."""
        return self.binaries.twin

    @property
    def libs(self) -> tuple[Path, ...]:
        """The case's own shared libraries, stripped."""
        return self.binaries.libs

    @cached_property
    def loaded(self) -> Core:
        """The core as the oracle's reader sees it."""
        return Core(self.core)

    @cached_property
    def _truth(self) -> Truth:
        return self.known or truth_of(self.loaded, self.case.program, self.binaries, self.steps)

    def truth(self) -> Truth:
        """The true chains of all threads; asked once, then kept."""
        return self._truth

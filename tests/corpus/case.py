"""One case of the corpus: a program in a variant, from source to core and truth."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from corpus.build import Binaries, CorpusError, compile_program
from corpus.catalog import Program
from corpus.corefile import Core
from corpus.crash import crash
from corpus.oracle import Truth, truth_of
from corpus.stepper import stepper_in
from corpus.variants import Variant


@dataclass(frozen=True)
class Case:
    """A program in a variant; nothing is built until `build`."""

    program: Program
    variant: Variant

    @property
    def name(self) -> str:
        """`PROGRAM/VARIANT`, unique."""
        return f"{self.program.name}/{self.variant.name}"

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
        root = binaries.exe.parents[3]
        stepper = stepper_in(root) if self.variant.needs_steps else None
        run = crash(binaries.exe, place, self.program.stack_limit, stepper, dumped)
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

    def again(self, dumped: int) -> BuiltCase:
        """The same program crashed once more, with this coredump_filter."""
        place = self.core.parents[1] / f"dumped-{dumped:x}"
        return self.case.crashed(self.binaries, place, dumped)

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
        return truth_of(self.loaded, self.case.program, self.binaries, self.steps)

    def truth(self) -> Truth:
        """The true chains of all threads; asked once, then kept."""
        return self._truth

"""What is found in one file that a compiler made, once it is stripped, and what its twin says."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from kept import compilers as tools_of
from kept import kept_copy
from oracles.tools import environment, run

from acceptance.helpers import name_twins
from acceptance.names import said_names
from acceptance.symbol_tables import start_scores
from compilers import programs
from compilers.found import Compiler
from whocall.core.engine import native

COLD = ("-DCOLD_ASSERT",)
NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")

LEVELS: dict[str, tuple[str, ...]] = {
    "-O0": ("-O0",),
    "-O1": ("-O1",),
    "-O2": ("-O2",),
    "-O3": ("-O3",),
    "-Os": ("-Os",),
    "-O2 cold": ("-O2", *COLD),
    "-O2 cold, no tables": ("-O2", *COLD, *NO_TABLES),
    "-O2 -fcf-protection, no PIE": ("-O2", "-fcf-protection", "-fno-pie", *COLD),
    "-O2 -m32 no PIE, no tables": ("-O2", "-m32", "-fno-pie", *COLD, *NO_TABLES),
}


@dataclass
class Share:
    """How many of all."""

    good: int = 0
    all: int = 0

    @property
    def percent(self) -> float:
        """100 where there is nothing."""
        return 100 * self.good / self.all if self.all else 100.0

    def add(self, other: Share) -> None:
        """Counts those of another file too."""
        self.good += other.good
        self.all += other.all


@dataclass
class Result:
    """Of a file, or of several."""

    names: int = 0
    wrong: list[str] = field(default_factory=list)
    recall: Share = field(default_factory=Share)
    precision: Share = field(default_factory=Share)
    calls: Share = field(default_factory=Share)
    instructions: Share = field(default_factory=Share)

    def add(self, other: Result) -> None:
        """Counts those of another file too."""
        self.names += other.names
        self.wrong += other.wrong
        for name in ("recall", "precision", "calls", "instructions"):
            getattr(self, name).add(getattr(other, name))


@dataclass(frozen=True)
class Corpus:
    """How much is compiled."""

    units: int = 4
    rounds: int = 3
    with_other_tests: bool = True


def build(compiler: Compiler, flags: tuple[str, ...], corpus: Corpus, twin: Path) -> Path:
    """One unstripped file of all programs, which cannot run."""
    texts = list(programs.sources(corpus.units, corpus.rounds))
    others = programs.of_other_tests() if corpus.with_other_tests else []
    recipe = ("compilers", compiler.c, flags, texts, others, Path(__file__),
              tools_of(compiler.c, "gcc"))  # fmt: skip

    def make(file: Path) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for source, text in texts:
                (folder / source).write_text(text)
            paths = [*map(Path, (source for source, _ in texts)), *others]
            objects = [_compile(compiler, flags, folder, path) for path in paths]
            kind = "-no-pie" if "-fno-pie" in flags else "-pie"
            machine = [flag for flag in flags if flag == "-m32"]
            subprocess.run(
                ["gcc", *machine, kind, "-o", str(file), "-Wl,--unresolved-symbols=ignore-all",
                 "-Wl,--allow-multiple-definition", "-Wl,-z,notext,-z,now", *map(str, objects),
                 str(_library(folder, machine)), "-lm", "-pthread"],
                check=True, env=environment(), capture_output=True, cwd=folder,
            )  # fmt: skip

    return kept_copy(recipe, make, twin)


def _library(folder: Path, machine: list[str]) -> Path:
    """What the programs call, so that they have it from where programs have it."""
    source, library = folder / "outside.c", folder / "liboutside.so"
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in programs.OUTSIDE))
    command = ["gcc", *machine, "-w", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, env=environment())
    return library


def _compile(compiler: Compiler, flags: tuple[str, ...], folder: Path, path: Path) -> Path:
    """An object; each of another test is compiled as it lies there."""
    driver = compiler.cxx if path.suffix == ".cc" else compiler.c
    target = folder / f"{path.parent.name}_{path.stem}_{path.suffix[1:]}.o"
    command = [driver, *flags, "-w", "-pthread", "-c", str(path), "-o", str(target)]
    done = subprocess.run(
        command, check=False, env=environment(), capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, f"{compiler.name} {' '.join(flags)} {path}:\n{done.stderr[-2000:]}"
    return target


def measure(twin: Path, has_tables: bool) -> Result:
    """All that is judged; rows only where the compiler wrote tables to judge them by."""
    names, wrong = said_names.judge(twin)
    starts = start_scores.score(twin, start_scores.bare_twin(twin, twin.parent))
    whole = [name for name in names if not name.endswith(".cold")]
    result = Result(len(whole), wrong)
    result.recall = Share(starts.found, starts.functions)
    result.precision = Share(starts.claimed - starts.false.total(), starts.claimed)
    if has_tables:
        audit = native.audit(str(name_twins.stripped(twin)), difference_limit=0)
        for kind in ("calls", "instructions"):
            count = getattr(audit, kind)
            setattr(result, kind, Share(count.return_address, count.places))
    return result


def of_compiler(compiler: Compiler, levels: tuple[str, ...], corpus: Corpus) -> dict[str, Result]:
    """By level."""
    results = {}
    for level in levels:
        flags = LEVELS[level]
        with tempfile.TemporaryDirectory() as name:
            twin = build(compiler, flags, corpus, Path(name) / "twin")
            results[level] = measure(twin, NO_TABLES[0] not in flags)
    return results


def version_line(compiler: Compiler) -> str:
    """What it says of itself."""
    return run([compiler.c, "--version"]).splitlines()[0]

"""One file of all programs, by one compiler; it cannot run."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import compilers as tools_of
from artifact_cache import kept_copy
from oracles.tools import environment

from compilers import programs
from compilers.found import Compiler


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

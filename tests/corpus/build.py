"""Compile a program in one variant: the unstripped twin, and the stripped copy that will run."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from corpus.catalog import SOURCES, Program
from corpus.variants import Variant


class CorpusError(Exception):
    """A case could not be built, did not crash as it must, or has no consistent truth."""


@dataclass(frozen=True)
class Binaries:
    """What runs (stripped) beside what is known about it (twins with the same file layout)."""

    exe: Path
    twin: Path
    libs: tuple[Path, ...] = ()
    lib_twins: tuple[Path, ...] = ()


def run(command: list[str], directory: Path) -> None:
    """Run a tool that has to succeed."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CorpusError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _stripped(twin: Path, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(twin, to)
    run(["strip", "--strip-all", str(to)], to.parent)
    return to


def compile_program(program: Program, variant: Variant, directory: Path) -> Binaries:
    """Build twin and stripped copy below the directory: `twin/NAME` and `bin/NAME`."""
    twins, binaries = directory / "twin", directory / "bin"
    twins.mkdir(parents=True, exist_ok=True)
    command = [variant.driver(program.is_cpp), *variant.compile_flags(), "-w", f"-I{SOURCES}"]
    command += [f"-D{define}" for define in program.defines] + list(program.flags)
    libs: list[Path] = []
    lib_twins: list[Path] = []
    extra: list[str] = []
    if program.library is not None:
        library = twins / f"lib{program.name}.so"
        run(
            [
                *command,
                "-fPIC",
                "-shared",
                f"-Wl,-soname,{library.name}",
                str(SOURCES / program.library),
                "-o",
                str(library),
            ],
            directory,
        )
        lib_twins.append(library)
        libs.append(_stripped(library, binaries / library.name))
        extra = [str(library), "-Wl,-rpath,$ORIGIN"]
    twin = twins / program.name
    run(
        [
            *command,
            *variant.link_flags(),
            str(SOURCES / program.source),
            *extra,
            "-pthread",
            "-o",
            str(twin),
        ],
        directory,
    )
    return Binaries(_stripped(twin, binaries / program.name), twin, tuple(libs), tuple(lib_twins))

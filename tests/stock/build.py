"""Builds a C source of this folder: a twin with its symbols, and a stripped copy that runs."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

FLAGS = (
    "-O2",
    "-fomit-frame-pointer",
    "-fno-stack-protector",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pthread",
)


@dataclass(frozen=True)
class Build:
    """A stripped executable and its unstripped twin: same code, same build id, same addresses."""

    stripped: Path
    twin: Path


def build(name: str, directory: Path, flags: tuple[str, ...] = ()) -> Build:
    """Compile `name`.c into `directory` as `name` (stripped) and `name`.twin; `flags` are added to
    the usual ones.
    """
    directory.mkdir(parents=True, exist_ok=True)
    made = Build(directory / name, directory / f"{name}.twin")
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["gcc", *FLAGS, *flags, "-o", str(made.twin), str(source)], check=True)
    subprocess.run(["strip", "-o", str(made.stripped), str(made.twin)], check=True)
    return made

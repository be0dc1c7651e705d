"""A crash for every command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "gdb"))
from shared_crashes import chain

from faults.commands import Place

__all__ = ["chain"]

TRACED = "void inner(void) {}\nvoid outer(void) { inner(); }\nint main(void) { outer(); }\n"


def recorded(folder: Path) -> Path:
    """What an instrumented program recorded."""
    libraries = Path(os.environ["WHOCALL_BUILD_DIR"]) / "whocall"
    (folder / "traced.c").write_text(TRACED)
    subprocess.run(
        ["gcc", "-finstrument-functions", "traced.c", "-o", "traced", f"-L{libraries}",
         "-lwhocall-trace", f"-Wl,-rpath,{libraries}"],
        cwd=folder, check=True,
    )  # fmt: skip
    made = folder / "calls"
    environment = {**os.environ, "WHOCALL_TRACE_FILE": str(made)}
    subprocess.run([folder / "traced"], env=environment, check=True)
    return made


def built_archive(folder: Path) -> Path:
    """A static library."""
    source = "int sum(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * i;"
    (folder / "sum.c").write_text(f"{source} return s; }}\n")
    subprocess.run(["gcc", "-O2", "-c", "sum.c"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libsum.a", "sum.o"], cwd=folder, check=True)
    return folder / "libsum.a"


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("trace"))


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_archive(tmp_path_factory.mktemp("archive"))


def made_place(folder: Path) -> Place:
    """The same without pytest."""
    from programs import CHAIN, shared

    crash = shared("chain", CHAIN)
    parts = [folder / name for name in ("trace", "archive", "folder")]
    for part in parts:
        part.mkdir()
    return Place(crash.exe, crash.core, recorded(parts[0]), built_archive(parts[1]), parts[2])


@pytest.fixture
def place(chain: object, trace: Path, archive: Path, tmp_path: Path) -> Place:
    """What all commands work on, and a folder for what they write."""
    return Place(chain.exe, chain.core, trace, archive, tmp_path)  # type: ignore[attr-defined]

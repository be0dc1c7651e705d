"""What hangs on the machine, compiled for AArch64 and run by qemu-user as far as it has no library.

The rest is `scripts/arm64`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from arm64 import ROOT

NATIVE = ROOT / "native"
TESTS = ROOT / "tests" / "native"
CACHED = ROOT / "scripts" / "compiler-cache"
COMPILER = ["aarch64-linux-gnu-g++", "-std=c++20", "-Wall", "-Wextra", "-Werror"]
INCLUDED = [f"-I{NATIVE}", f"-I{TESTS}", "-isystem", "/usr/include/capstone"]
ASKING_THE_SYSTEM = (
    "base/mapped_file.cpp",
    "memory/process_memory.cpp",
    "object/open_files.cpp",
    "process/live/live_process.cpp",
    "process/proc_files.cpp",
    "process/live/stopped_threads.cpp",
    "symbols/table/symbol_index.cpp",
)
# Without Capstone for AArch64: what is missing is never called, and stands at 0.
INCOMPLETE = ["-static", "-Wl,--unresolved-symbols=ignore-all"]
LAYOUTS = (
    TESTS / "main.cpp",
    TESTS / "arch_kernel_layouts_aarch64_test.cpp",
    *sorted((NATIVE / "arch" / "aarch64").glob("*.cpp")),
    NATIVE / "arch" / "architectures.cpp",
    NATIVE / "arch" / "fixed_width.cpp",
    NATIVE / "arch" / "linked_return_path.cpp",
)


@pytest.mark.parametrize("source", ASKING_THE_SYSTEM)
def test_it_compiles(source: str) -> None:
    command = [*COMPILER, *INCLUDED, "-fsyntax-only", str(NATIVE / source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_kernels_layouts(tmp_path: Path) -> None:
    """Of saved registers, signal frames and signatures, as the headers of AArch64 have them."""
    program = tmp_path / "layouts"
    objects = [str(tmp_path / f"{number}.o") for number in range(len(LAYOUTS))]
    for source, compiled in zip(LAYOUTS, objects):
        command = [str(CACHED), *COMPILER, *INCLUDED, "-c", str(source), "-o", compiled]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    subprocess.run([*COMPILER, *objects, *INCOMPLETE, "-o", str(program)], check=True)
    ran = subprocess.run(
        ["qemu-aarch64", str(program)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "2 passed | 0 failed" in ran.stdout

"""What a short command loads: each module that it has no use for makes it slower."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from programs import Crash, shared

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
# Of the C library only what called main is on the stack.
SOURCE = """
__attribute__((noinline)) int last(int *p) { return *(volatile int *)p + 2; }
__attribute__((noinline)) int calling(int *p) { return last(p) + 1; }
int main(void) { return calling(0); }
"""
DEAR = {
    "argparse", "dataclasses", "inspect", "json", "pathlib", "re", "shlex", "shutil", "subprocess",
    "tempfile", "typing",
}  # fmt: skip


@pytest.fixture(scope="module")
def alone() -> Crash:
    return shared("alone", SOURCE)


def loaded_by(*arguments: str | Path) -> tuple[set[str], str]:
    """The Python modules that the command line has loaded at its end, and the files in memory."""
    program = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
        "from whocall.cli.main import main\n"
        "status = main()\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "print(open('/proc/self/maps').read(), file=sys.stderr)\n"
        "sys.exit(status)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "#1" in ran.stdout
    modules, _, maps = ran.stderr.partition("\n")
    return set(modules.split()), maps


def test_a_backtrace_loads_no_dear_module(alone: Crash) -> None:
    modules, _ = loaded_by("bt", alone.core, alone.exe)
    assert modules & DEAR == set()


@pytest.mark.parametrize("more", [(), ("--all",)])
def test_the_reader_of_lines_is_loaded_only_for_lines_that_are_shown(
    alone: Crash, more: tuple[str, ...]
) -> None:
    _, maps = loaded_by("bt", alone.core, alone.exe, *more)
    assert "_native" in maps
    assert "libdw" not in maps
    assert "libbfd" not in maps

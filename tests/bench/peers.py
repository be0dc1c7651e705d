"""How whocall's peers are asked for the same: every frame of every thread, every function."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

TOOLS = ("gdb", "lldb", "eu-stack", "eu-nm", "nm", "llvm-symbolizer")

GDB = (
    *("gdb", "-nx", "-q", "-batch"),
    *("-iex", "set debuginfod enabled off", "-iex", "set auto-load off"),
)
# As the others do.
ALL_FRAMES = (
    *("-iex", "set backtrace past-main on", "-iex", "set backtrace past-entry on"),
    *("-iex", "set backtrace limit unlimited", "-iex", "set width 0"),
)


def gdb(core: Path, exe: Path) -> list[str]:
    """Its backtraces."""
    return [*GDB, *ALL_FRAMES, "-ex", "thread apply all bt", str(exe), str(core)]


def lldb(core: Path, exe: Path) -> list[str]:
    """Its backtraces; `thread list` says which thread is whose."""
    steps = [f'target create --core "{core}" "{exe}"', "thread list", "thread backtrace all"]
    return ["lldb", "--no-lldbinit", "--batch", *(word for step in steps for word in ("-o", step))]


def eu_stack(core: Path, exe: Path) -> list[str]:
    """Its backtraces."""
    return ["eu-stack", "-n", "0", f"--core={core}", f"--executable={exe}"]


def eu_stack_with_lines(core: Path, exe: Path) -> list[str]:
    """The same with source lines and inlined calls, as ours has them."""
    return [*eu_stack(core, exe), "-i", "-s"]


def nm(file: Path) -> list[str]:
    """Its symbols by address, as whocall has them."""
    return ["nm", "-n", str(file)]


def eu_nm(file: Path) -> list[str]:
    """Its symbols, likewise."""
    return ["eu-nm", "--format=bsd", "-n", str(file)]


def versions() -> Iterator[str]:
    """The tools that are set beside us, and which they are; for a line below the table."""
    for tool in ("gdb", "lldb", "eu-stack", "nm", "llvm-symbolizer"):
        said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
        number = re.search(r"\d+\.[\d.]*\d", said.stdout)
        yield f"{tool} {number[0] if number else 'of unknown version'}"

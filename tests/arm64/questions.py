"""What both builds are asked: backtraces of every kind of core, and tables of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.suite import cases as own_cases
from oracles.distribution import LIBRARIES, sysroot
from ports.case import cases
from ports.sets import SETS

Questions = dict[str, list[str]]
"""Words of the command line, by a name."""
TEXT = ("--all", "--full", "--explain", "--past-main")
SAMPLE = 6
"""Of the cores of other sets than AArch64, each so many-th."""

NO_DEBUG_FILES = "/no-debug-files"


def _backtraces(name: str, core: Path, exe: Path, root: str) -> Iterator[tuple[str, list[str]]]:
    # This machine may have the C library's debug files, which lie outside the shared folders.
    where = ["bt", str(core), str(exe), "--debug-directory", NO_DEBUG_FILES]
    where += ["--sysroot", root] if root else []
    yield f"{name}, text", [*where, *TEXT]
    yield f"{name}, JSON", [*where, "--all", "--json"]


def of_ports(name: str, each: int) -> Questions:
    """Cores of a set that qemu-user wrote, with unwind tables and without, every `each`-th."""
    found: Questions = {}
    for tables in (True, False):
        for case in cases(SETS[name], tables)[::each]:
            built = case.kept()
            found.update(_backtraces(case.name, built.core, built.exe, built.sysroot))
    return found


def of_x86() -> Questions:
    """Cores of this machine's programs."""
    found: Questions = {}
    for tables in (True, False):
        for case in own_cases(tables=tables)[::SAMPLE]:
            built = case.kept()
            name = case.name if tables else f"{case.name}-notables"
            found.update(_backtraces(name, built.core, built.exe, ""))
    return found


def of_files() -> Questions:
    """Function tables, and the audit of what instructions alone tell."""
    found: Questions = {}
    for libraries in (sysroot("aarch64-linux-gnu") / "lib", LIBRARIES):
        for name in ("libm.so.6", "libstdc++.so.6"):
            file = str(libraries / name)
            where = ["--debug-directory", NO_DEBUG_FILES]
            found[f"functions of {file}"] = ["functions", file, *where, "--json"]
        found[f"audit of {libraries}"] = ["audit", str(libraries / "libm.so.6"), "--json"]
    return found


def all_of_them() -> dict[str, Questions]:
    """By a row of the table."""
    others: Questions = {}
    for name in SETS:
        others.update(of_ports(name, SAMPLE) if name != "aarch64" else {})
    return {
        "bt of AArch64 cores": of_ports("aarch64", 1),
        "bt of x86 cores": of_x86(),
        "bt of ARM and MIPS cores": others,
        "functions and audit of files": of_files(),
    }

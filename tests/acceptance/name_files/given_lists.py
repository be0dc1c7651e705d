"""Lists of symbols given for a small stripped program: how they are written, and what they lend."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from oracles.tools import run

from acceptance.helpers import name_lists, name_twins
from whocall import Search, open_symbols
from whocall.base.native_module import native

SOURCE = r"""
#include <signal.h>
#include <stdio.h>
static int __attribute__((noinline))
depth(int left) { return left ? depth(left - 1) + 1 : raise(19); }
static int __attribute__((noinline)) middle(int left) { return depth(left) * 2; }
static int __attribute__((noinline)) by_pointer(int left) { return left * 3; }
int (*volatile pointer)(int) = by_pointer;
int exported(int left) { return middle(left) + pointer(left); }
int main(int count, char **words) { (void)words; return exported(count + 2) + 1; }
"""

Writer = Callable[[Path], str]

PRINTED: dict[str, Writer] = {
    "nm": lambda twin: run(["nm", str(twin)]),
    "nm -n": lambda twin: run(["nm", "-n", str(twin)]),
    "nm -S": lambda twin: run(["nm", "-S", str(twin)]),
    "nm -l": lambda twin: run(["nm", "-l", str(twin)]),
    "nm -P": lambda twin: run(["nm", "-P", str(twin)]),
    "nm -f sysv": lambda twin: run(["nm", "-f", "sysv", str(twin)]),
    "objdump -t": lambda twin: run(["objdump", "-t", str(twin)]),
    "readelf -sW": lambda twin: run(["readelf", "-sW", str(twin)]),
    "Breakpad": name_lists.breakpad,
    "IDA": name_lists.ida_functions,
    "radare2": name_lists.radare,
    "radare2, addr": lambda twin: name_lists.radare(twin, "addr"),
    "JSON": name_lists.plain_json,
    "Ghidra, functions": lambda twin: name_lists.ghidra_functions(twin, 0),
    "Ghidra, symbols": lambda twin: name_lists.ghidra_symbols(twin, 0),
}


def search(*lists: str) -> Search:
    """Nothing but the lists."""
    return Search(debug_directories=[], symbol_files=lists)


def score(bare: Path, twin: Path, *lists: str) -> name_twins.Score:
    """How the names of the stripped file with the lists agree with the twin."""
    return name_twins.score(open_symbols(str(bare), search=search(*lists)), twin)


def remark(bare: Path, *lists: str) -> str:
    """What is said of lists that lend no names."""
    return native.FileNames(os.fsencode(bare), search=search(*lists).native()).remark


def written(path: Path, text: str) -> str:
    """The path of a file with this text."""
    path.write_text(text)
    return str(path)

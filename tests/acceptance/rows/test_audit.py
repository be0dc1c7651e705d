"""The analysis of instructions held against the unwind tables of real files.

The tables are the compiler's, which never saw the analysis; that they are read rightly is tested
against readelf in test_cfi_rows.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from oracles.distribution import llvm_library
from oracles.tools import run

from acceptance.helpers.scoreboard import Scoreboard
from whocall.base.native_module import native

FILES = [
    "libc.so.6",
    "libstdc++.so.6",
    "libcrypto.so.3",
    sys.executable,
    "/usr/bin/bash",
    "/usr/bin/perl",
    "/usr/bin/git",
    "libsqlite3.so.0",
    "/usr/bin/gdb",
    str(llvm_library()),
]

EVERY = {str(llvm_library()): 8}
"""Of this file only every so-manieth function is looked at: all 95,000 take minutes."""

LEAST_CALLS = 0.999
LEAST_INSTRUCTIONS = 0.99
"""Shares, in each file, of the places at which CFA and return address are those of the table; where
the table is silent on what the instructions do, as in the assembly of OpenSSL 3.5, it is no oracle.
"""


def resolved(file: str) -> Path:
    """The path of a program or of a library by its name."""
    path = file if file.startswith("/") else run(["gcc", f"-print-file-name={file}"]).strip()
    return Path(path).resolve(strict=True)


def classes_of(count: native.AuditCount) -> list[str]:
    """What the differences are, most first."""
    found = sorted(count.classes.items(), key=lambda item: -item[1])
    return [f"{name} {number}" for name, number in found if number]


@pytest.mark.parametrize("file", FILES)
def test_analysis_agrees_with_the_tables(file: str, scoreboard: Scoreboard) -> None:
    """At every instruction that a table covers, the frame is known as the table knows it."""
    path, every = resolved(file), EVERY.get(file, 1)
    audit = native.audit(str(path), difference_limit=0, every=every)
    shares = {}
    cells: list[object] = [path.name if every == 1 else f"{path.name} (every {every}th function)"]
    for name in ("calls", "instructions"):
        count = getattr(audit, name)
        told = count.places - count.classes.get("table-incomplete", 0)
        shares[name] = count.return_address / told
        cells += [count.places, 100 * shares[name], 100 * count.registers / count.places]
    scoreboard.table(
        "Analysis against unwind tables: the frame is the table's (and the saved registers are)",
        *("file", "calls", "frame %", "registers %", "instructions", "frame %", "registers %"),
        "most differences",
    ).rows.append([*cells, (classes_of(audit.instructions) or ["none"])[0]])
    assert shares["calls"] >= LEAST_CALLS, classes_of(audit.calls)
    assert shares["instructions"] >= LEAST_INSTRUCTIONS, classes_of(audit.instructions)

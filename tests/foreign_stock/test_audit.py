"""The analysis held against the unwind tables of other instruction sets' C and C++ libraries.

Their C library has tables for a part of its functions only; those of the rest stand in the separate
debug file, which elfutils joins with the library.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from acceptance.helpers.scoreboard import Scoreboard
from artifact_cache import kept
from oracles.tools import run

from foreign_stock.crash import SETS
from foreign_stock.roots import root_of, unpacked
from whocall.base.native_module import native

LEAST_CALLS = 0.999
LEAST_INSTRUCTIONS = 0.997
"""Shares, in each file, of the places at which CFA and return address are those of the table."""

WITH_DEBUG_FILES = ("libc6", "libc6-dbg")


def _joined(place: Path, architecture: str) -> Path:
    root = unpacked(place, architecture, WITH_DEBUG_FILES)
    (library,) = root.glob("lib/*/libc.so.6")
    notes = run(["readelf", "-n", str(library)])
    build_id = notes.split("Build ID:")[1].split()[0]
    debug = root / "usr/lib/debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    joined = place / "libc"
    subprocess.run(["eu-unstrip", "-o", str(joined), str(library), str(debug)], check=True)
    subprocess.run(["rm", "-rf", str(root)], check=True)
    return joined


def library_of(architecture: str, name: str) -> Path:
    """The C library with its debug file, or another library of the distribution's as it is."""
    if name == "libc":
        recipe = ("whole C library", architecture, WITH_DEBUG_FILES)
        return kept(recipe, lambda place: _joined(place, architecture))
    (found,) = root_of(architecture).glob(f"usr/lib/*/{name}.so.6")
    return found


@pytest.mark.parametrize("name", ["libc", "libstdc++"])
@pytest.mark.parametrize("architecture", list(SETS))
def test_analysis_agrees_with_the_tables(
    architecture: str, name: str, scoreboard: Scoreboard
) -> None:
    """At every instruction that a table covers; by tables for exceptions, at every call."""
    audit = native.audit(str(library_of(architecture, name)), difference_limit=0)
    cells: list[object] = [architecture, name]
    shares = {}
    for kind in ("calls", "instructions"):
        count = getattr(audit, kind)
        shares[kind] = count.return_address / count.places
        cells += [count.places, 100 * shares[kind], 100 * count.registers / count.places]
    scoreboard.table(
        "Analysis against unwind tables of other instruction sets",
        *("set", "file", "calls", "frame %", "registers %", "instructions", "frame %"),
        "registers %",
    ).rows.append(cells)
    assert shares["calls"] >= LEAST_CALLS
    assert shares["instructions"] >= LEAST_INSTRUCTIONS

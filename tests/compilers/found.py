"""Which compilers there are: the system's own, and those of scripts/later-compilers."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run

ROOT = Path(__file__).resolve().parents[2]
WANTED = ("gcc-12", "gcc-13", "gcc-14", "gcc-15", "gcc-16", "clang-14", "clang-15", "clang-16",
          "clang-17", "clang-18", "clang-19", "clang-20", "clang-21")  # fmt: skip
DRIVERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


@dataclass(frozen=True)
class Compiler:
    """One release. `c` and `cxx` only compile: who links is the system's gcc."""

    name: str  # "gcc-14"
    c: str
    cxx: str

    @property
    def family(self) -> str:
        """gcc or clang."""
        return self.name.partition("-")[0]


def systems_own() -> list[Compiler]:
    """gcc and clang without a version, and releases that are installed beside them."""
    found = []
    for family, (c, cxx) in DRIVERS.items():
        if shutil.which(c) and shutil.which(cxx):
            version = re.match(r"\d+", run([c, "-dumpversion"]))
            assert version
            found.append(Compiler(f"{family}-{version[0]}", c, cxx))
    known = {each.name for each in found}
    for name in WANTED:
        family, _, number = name.partition("-")
        c, cxx = (f"{driver}-{number}" for driver in DRIVERS[family])
        if name not in known and shutil.which(c) and shutil.which(cxx):
            found.append(Compiler(name, c, cxx))
    return found


def unpacked() -> list[Compiler]:
    """Those in build/compilers."""
    folder = Path(os.environ.get("WHOCALL_COMPILERS") or ROOT / "build/compilers")
    found = []
    for name in WANTED:
        c, cxx = (folder / name / driver for driver in DRIVERS[name.partition("-")[0]])
        if (folder / name / "recipe").exists():
            found.append(Compiler(name, str(c), str(cxx)))
    return found


def all_compilers() -> list[Compiler]:
    """Each once, in the order of families and releases."""
    found = {each.name: each for each in [*unpacked(), *systems_own()]}
    return sorted(found.values(), key=lambda one: (one.family != "gcc", int(one.name[-2:])))

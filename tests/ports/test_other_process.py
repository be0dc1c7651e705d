"""Cores one after the other in one gdb-multiarch, with the same library at different addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from corpus.crash import set_limits
from places.needs import OWN_CORES, require

from ports import ROOT, voices
from ports.sets import SETS

# The C library's frames stand in the middle, and gdb needs rules for them.
SOURCE = """
#include <stdlib.h>
static int compare(const void *a, const void *b) {
  return *(volatile int *)((long)a & 8) + (a < b);
}
int main(void) { int some[] = {3, 1, 2}; qsort(some, 3, sizeof *some, compare); return some[0]; }
"""


class Dumped(NamedTuple):
    """A stripped program of an instruction set, crashed under qemu."""

    core: Path
    exe: Path
    sysroot: str


def _crashed(place: Path, name: str, *libraries: str) -> Dumped:
    require(OWN_CORES)
    of = SETS[name]
    place.mkdir()
    (place / "prog.c").write_text(SOURCE)
    linked = ["-Wl,--no-as-needed", *libraries, "-s", "-o", "prog"]
    command = [f"{of.triple}-gcc", *of.flags, "-O1", "prog.c", *linked]
    subprocess.run(command, cwd=place, check=True)
    ran = [of.qemu, "-L", of.sysroot, "-s", "262144", str(place / "prog")]
    quiet = subprocess.DEVNULL
    subprocess.run(
        ran, cwd=place, stderr=quiet, check=False, preexec_fn=lambda: set_limits(dumped=0)
    )
    (core,) = place.glob("qemu_prog_*.core")
    return Dumped(core, place / "prog", of.sysroot)


@pytest.mark.parametrize("name", ["aarch64", "arm", "mipsel"])
def test_the_library_of_the_next_core_lies_elsewhere(name: str, tmp_path: Path) -> None:
    """With one library more in front of it, some pages further down."""
    cores = [_crashed(tmp_path / "one", name), _crashed(tmp_path / "more", name, "-lm")]
    ours = [voices.ask_whocall(each) for each in cores]
    assert all(len(chain) > 4 for chains in ours for chain in chains.values())
    found = voices.ask_repaired([*cores, cores[0]], ROOT / "gdbext" / "whocall.py")
    for repaired, walked in zip(found, [*ours, ours[0]]):
        assert {tid: [frame.pc for frame in chain] for tid, chain in repaired.items()} == {
            tid: [frame.pc for frame in chain] for tid, chain in walked.items()
        }

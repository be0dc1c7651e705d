"""A .debug_frame that is another build's, as tools leave it that move code: its rows are of other
functions, and are not used.

The oracle is eu-stack with the table that belongs to the program.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.crash import crash
from oracles import eu_stack
from oracles.tools import run

from acceptance.helpers import chains

SOURCE = Path(__file__).with_name("stale_frames.c")
BUILDS = ["-O2", "-O1 -fomit-frame-pointer", "-O2 -fno-omit-frame-pointer", "-Os", "-O2 -m32"]


def program(place: Path, build: str, *flags: str) -> Path:
    exe = place / f"program{len(flags)}"
    options = [*build.split(), "-g", "-fno-asynchronous-unwind-tables", *flags]
    run(["gcc", *options, str(SOURCE), "-o", str(exe)])
    return exe


@pytest.mark.parametrize("build", BUILDS)
def test_rows_of_another_build(build: str, tmp_path: Path) -> None:
    own = program(tmp_path, build)
    core = crash(own, tmp_path).core
    (wanted,) = eu_stack.of_core(core, own).pcs().values()
    for shift in (64, 112, 176):  # less may be lost in the gaps between functions
        other, table = program(tmp_path, build, f"-DSHIFTED={shift}"), tmp_path / "table"
        run(["objcopy", "--dump-section", f".debug_frame={table}", str(other), "/dev/null"])
        stale = tmp_path / f"stale{shift}"
        run(["objcopy", "--update-section", f".debug_frame={table}", str(own), str(stale)])
        (trace,) = chains.of_core(core, stale).values()
        assert chains.pcs(trace) == wanted, chains.listing(trace)
        assert "scan" not in {frame.trust for frame in trace.frames}, chains.listing(trace)


def test_rows_of_this_build(tmp_path: Path) -> None:
    """They are used: no other table covers the functions."""
    own = program(tmp_path, "-O2")
    (trace,) = chains.of_core(crash(own, tmp_path).core, own).values()
    named = {frame.function: frame.trust for frame in trace.frames}
    assert {named[name] for name in ("compare", "deep")} == {"cfi"}, chains.listing(trace)

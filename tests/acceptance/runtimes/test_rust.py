"""Rust: release builds that panic, in both mangling schemes, unwinding and aborting.

The oracle is the backtrace that Rust's own runtime prints from inside the unstripped twin, with its
own unwinder and demangler. It writes the hash of legacy names and the disambiguators of v0 names,
which readers do without: `nm -C` leaves them out, and so do we.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles import gdb_bt, nm_table
from oracles.tools import run

import whocall
from acceptance.helpers import name_twins, rust_programs
from acceptance.helpers.scoreboard import Scoreboard
from whocall import Frame
from whocall.base.process_image import Walk
from whocall.report.tables.functions import of_file

ROOT = Path(__file__).resolve().parents[3]
BUILDS = [(mangling, panic) for mangling in ("legacy", "v0") for panic in ("unwind", "abort")]

_LINE = re.compile(r" +\d+: +0x([0-9a-f]+) - (.*)")
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_DISAMBIGUATOR = re.compile(r"\[[0-9a-f]+\]")


@dataclass(frozen=True)
class Panic:
    """The twin, what it said of its own stack (link address of the pc, name), the stripped file."""

    build: str
    twin: Path
    bare: Path
    chain: list[tuple[int, str]]


def _printed(twin: Path) -> list[tuple[int, str]]:
    environment = os.environ | {"RUST_BACKTRACE": "full"}
    ran = subprocess.run(
        [twin], env=environment, capture_output=True, text=True, check=False, cwd=twin.parent
    )
    assert ran.returncode == -6, ran.stderr
    found = [(int(line[1], 16), line[2]) for line in map(_LINE.match, ran.stderr.splitlines())
             if line]  # fmt: skip
    # The pc lies in main, which is shorter than a page. It has no unwind table in some builds.
    begin = next(each.address for each in nm_table.symbols(twin) if each.name == "main")
    last = next(at for at, (_, name) in enumerate(found) if name == "main")
    bias = (found[last][0] - begin) & ~0xFFF
    # Calls that are inlined repeat the pc of the frame that holds them, which comes last.
    physical = {pc - bias: _DISAMBIGUATOR.sub("", _HASH.sub("", name)) for pc, name in found}
    return list(physical.items())[: list(physical).index(found[last][0] - bias) + 1]


@pytest.fixture(scope="module", params=BUILDS, ids="-".join)
def panicked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Panic:
    """Built once for all tests."""
    mangling, panic = request.param
    twin = rust_programs.build(tmp_path_factory.mktemp("rust"), mangling, panic)
    witness = twin
    if panic == "abort":  # which leaves the program's own functions without unwind tables
        directory = tmp_path_factory.mktemp("witness")
        witness = rust_programs.build(directory, mangling, panic, "-C", "force-unwind-tables=yes")
        code = frozenset("tT")
        assert nm_table.symbols(witness, types=code) == nm_table.symbols(twin, types=code)
    chain = _printed(witness)
    # What is called from the hook on differs from what is on the stack when the program dies.
    at = next(index for index, (_, name) in enumerate(chain) if name.endswith("panic_with_hook"))
    return Panic(f"{mangling}, {panic}", twin, name_twins.stripped(twin), chain[at + 1 :])


def _stack(exe: Path, core: Path) -> list[Frame]:
    with whocall.open_core(str(core), str(exe)) as image:
        trace = image.report(walk=Walk(past_main=True, lines=False)).threads[0]
    return [frame for frame in trace.frames if not frame.inlined]


def _frames(exe: Path, core: Path) -> list[Frame]:
    return [frame for frame in _stack(exe, core) if frame.module == str(exe)]


def _below_the_hook(frames: list[Frame], chain: list[tuple[int, str]]) -> list[Frame]:
    end = [frame.rva for frame in frames].index(chain[-1][0]) + 1
    return frames[end - len(chain) : end]


def test_names_are_those_that_rust_prints(panicked: Panic, tmp_path: Path) -> None:
    frames = _frames(panicked.twin, crash(panicked.twin, tmp_path).core)
    ours = [(frame.rva, frame.function) for frame in _below_the_hook(frames, panicked.chain)]
    assert ours == panicked.chain
    names = {name for _, name in ours}
    assert len(names) > 12
    assert any("{{closure}}" in name or "{closure#" in name for name in names if name)
    assert any("as panics::shapes::Shape>::area" in name for name in names if name)


def test_stripped_the_chain_is_true_down_to_main(
    panicked: Panic, tmp_path: Path, scoreboard: Scoreboard
) -> None:
    core = crash(panicked.bare, tmp_path).core
    frames = _frames(panicked.bare, core)
    ours = [frame.rva for frame in _below_the_hook(frames, panicked.chain)]
    true = [pc for pc, _ in panicked.chain]
    assert ours == true
    starts = {each.address for each in nm_table.symbols(panicked.twin)}
    for frame in frames:
        assert frame.rva is not None
        assert frame.offset is not None
        assert frame.rva - frame.offset in starts, frame.shown
        assert frame.shown in (f"sub_{frame.rva - frame.offset:x}", "main?", "_start?")
    assert [frame.shown for frame in frames[-2:]] == ["main?", "_start?"]
    _enter(scoreboard, panicked, core, frames)


def _enter(scoreboard: Scoreboard, panicked: Panic, core: Path, ours: list[Frame]) -> None:
    (thread,) = gdb_bt.of_core(core, panicked.bare).values()
    known = {frame.pc for frame in _stack(panicked.bare, core)}
    found = sum(frame.pc in thread.pcs() for frame in ours)
    false = sum(pc not in known for pc in thread.pcs())
    table = scoreboard.table(
        "panics of stripped Rust programs: frames of the program itself",
        "build", "true frames", "whocall", "gdb", "false in gdb",
    )  # fmt: skip
    table.rows.append((panicked.build, len(ours), len(ours), found, false))


def test_functions_and_symbol_show_what_nm_shows(panicked: Panic) -> None:
    listed = of_file(str(panicked.twin), "", True).functions
    names = {(each.start, each.name) for each in listed if each.named and each.source != "plt"}
    by_nm = {
        (each.address, each.name)
        for each in nm_table.parse(
            run(["nm", "-C", "--defined-only", str(panicked.twin)]), frozenset("tT")
        )
    }
    assert names >= by_nm
    rust = {name for _, name in names if "::" in name}
    assert len(rust) > 300
    assert not {name for name in rust if _HASH.search(name) or (_DISAMBIGUATOR.search(name)
                and not name.startswith("<["))}  # fmt: skip
    assert not {name for _, name in names if name.startswith(("_ZN", "_R"))}
    pc, name = next(each for each in panicked.chain if "apply" in each[1])
    command = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "symbol"]
    said = run([*command, str(panicked.twin), f"{pc - 1:#x}"])
    assert f" is {name} (+" in said

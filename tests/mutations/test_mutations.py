"""A short campaign over small programs; and that it would notice what it is there to notice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mutations import all_commands, choice, measure, runs
from mutations.campaign import Copies, read, run, try_one
from mutations.forms import FORMS, Form, Given
from mutations.kinds import KINDS
from mutations.measure import Meter

SMALL = ("c-bare", "c-static-pie", "i386", "jit-pointer")
MUTANTS = 60
RUNS = 150
GUARD = 30.0
"""Seconds of processor time: a campaign by hand looks closer, tests do not use a stop-watch."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where originals, copies and the record lie; only small originals are drawn."""
    all_of_them = choice.ORIGINALS
    choice.ORIGINALS = {name: all_of_them[name] for name in SMALL}
    yield tmp_path_factory.mktemp("mutations")
    choice.ORIGINALS = all_of_them


def test_no_mutant_offends(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "CPU_SECONDS", GUARD)
    lines = read(run(directory, 1, MUTANTS, 1))
    assert sorted(line["number"] for line in lines) == list(range(MUTANTS))
    assert [line for line in lines if line["faults"]] == []
    assert any(line["refused"] for line in lines)
    assert any(sum(line["frames"]) > 10 for line in lines)
    assert read(run(directory, 1, MUTANTS, 1)) == lines, "a finished campaign has nothing to do"


def test_each_kind_changes_what_it_says(directory: Path) -> None:
    copies = Copies(directory / "originals", directory / "changed")
    drawn = set()
    for number in range(2000):
        mutant = choice.mutant(2, number, copies.layout_of)
        if mutant.kind in drawn:
            continue
        assert choice.mutant(2, number, copies.layout_of) == mutant
        damaged = [path.read_bytes() for path in copies.damage(mutant) if path]
        copies.restore(mutant)
        files = copies.damage(choice.Mutant(mutant.original, "nothing", []))
        layout = copies.layout_of(mutant.original)
        whole = [elf.data[:] for elf in (layout.core, layout.program) if elf]
        assert [path.read_bytes() for path in files if path] == whole
        if damaged != whole:  # zeros over zeros are none
            drawn.add(mutant.kind)
    missing = set(KINDS) - drawn
    assert missing <= {"section.gopclntab", "section.symtab", "section.gcc_except_table"}


def _spins(*_: object) -> tuple[int, float]:
    end = time.process_time() + 2 * measure.CPU_SECONDS
    while time.process_time() < end:
        pass
    return 0, time.process_time()


def _eats(*_: object) -> tuple[int, float]:
    return len(b"x" * (measure.MEMORY_BYTES + (1 << 20))), time.process_time()


def _dies(*_: object) -> tuple[int, float]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0, 0.0


def _fails(*_: object) -> tuple[int, float]:
    raise KeyError("nobody catches this")


def _mumbles(
    _core: Path, _program: Path, _lines: bool, _without: object, out: int
) -> tuple[int, float]:
    os.write(out, b'{"schema": ')
    return 0, time.process_time()


@pytest.mark.parametrize(
    ("walk", "said"),
    [
        (_spins, " s"),
        (_eats, " MiB"),
        (_dies, "died of SIGSEGV"),
        (_fails, "KeyError"),
        (_mumbles, "no JSON"),
    ],
)
def test_offenders_are_noticed(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    walk: Callable[..., tuple[int, float]],
    said: str,
) -> None:
    monkeypatch.setattr(measure, "_walk", walk)
    monkeypatch.setattr(measure, "CPU_SECONDS", 0.1 if walk is _spins else GUARD)
    meter = Meter()
    copies = Copies(directory / "originals", directory / "noticed")
    try:
        line = try_one(copies, meter, 1, 0)
        assert any(said in fault for fault in line["faults"]), line
    finally:
        meter.end()


def test_no_command_offends(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign's short form: `python3 -m mutations.all_commands` in `tests`."""
    monkeypatch.setattr(runs, "CPU_SECONDS", GUARD)
    lines = all_commands.campaign(directory / "commands", 1, RUNS, 1)
    assert [line for line in lines if line["faults"]] == []
    assert len(lines) == RUNS
    forms = {line["form"].partition(":")[0] for line in lines}
    assert "gdb" in forms and len(forms) > len(FORMS) / 2
    assert sum(line["status"] == 0 for line in lines) > RUNS / 2


def _given(directory: Path, folder: Path) -> Given:
    core, program = Copies(directory / "originals", directory / "judged").files("c-bare")
    return Given(folder, core, program)


@pytest.mark.parametrize(
    ("replaced", "complaint"),
    [
        (lambda given: ["no-such-command"], "exit status 2"),
        (lambda given: ["functions", str(given.folder)], ""),
        (lambda given: ["bt", *given.pair, "--json"], ""),
        (lambda given: ["bt", *given.pair, "--all"], "no JSON"),
    ],
)
def test_runs_are_judged(
    directory: Path, tmp_path: Path, replaced: Callable[[Given], list[str]], complaint: str
) -> None:
    ran = runs.run(Form("judged", 1, "core", replaced, json=True), _given(directory, tmp_path))
    assert [each for each in ran.faults if complaint and complaint in each] or not complaint
    assert bool(ran.faults) == bool(complaint)


def test_sessions_of_gdb_are_judged(directory: Path, tmp_path: Path) -> None:
    given = _given(directory, tmp_path)
    assert not runs.run_in_gdb(given, ("whocall bt",)).faults
    kill = "python import os; os.kill(os.getpid(), 9)  # whocall"
    assert "gdb ended with -9" in runs.run_in_gdb(given, (kill,)).faults[0]
    served = runs.served(given)
    assert not served.faults

"""Classes of severity, by bugs whose sources say what they do."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from corpus.dumper import leaving_core

from triage.catalog import BUILDS, Bug
from triage.crashes import Crashed, limits, made_cores
from whocall.base.file_search import Search
from whocall.triage.examine import examine
from whocall.triage.facts import Facts
from whocall.triage.severity import CLASSES, SEVERITIES

KINDS = {
    Bug("imgtool", 1): "SourceAv",
    Bug("imgtool", 4): "SegFaultOnPcNearNull",
    Bug("mathvm", 0): "FPE",
    Bug("mathvm", 4): "StackOverflow",
    Bug("mathvm", 3): "AbortSignal",
    Bug("archive", 2): "HeapError",
    Bug("ledger", 4): "ReturnAv",
    Bug("shapes", 4): "CallAv",
}


@pytest.fixture(scope="module")
def cores() -> list[Crashed]:
    return made_cores(list(KINDS), [BUILDS[2]], [2])


def test_kinds(cores: list[Crashed]) -> None:
    found = {
        Bug(each.program, each.job): examine(str(each.core), Search(), Facts(None))["kind"]
        for each in cores
    }
    assert found == KINDS


def test_a_signal_that_was_sent_blames_no_instruction(tmp_path: Path) -> None:
    process = subprocess.Popen(leaving_core(["sleep", "60"]), cwd=tmp_path, preexec_fn=limits)
    while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
        assert process.poll() is None
    process.send_signal(signal.SIGSEGV)
    process.wait()
    (core,) = tmp_path.glob("core*")
    found = examine(str(core), Search(), Facts(None))
    assert (found["signal"], found["kind"]) == ("SIGSEGV", "Undefined")
    assert found["address"] is None


def test_every_class_has_a_severity() -> None:
    assert {severity for severity, _ in CLASSES.values()} == set(SEVERITIES)

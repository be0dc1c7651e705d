"""`whocall trace` and `whocall compare -shadow` in gdb, beside the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessions import Answer, Question, asked, batch
from tracing.lab import Ran, build, run, said

COMMANDS = ["whocall trace", "whocall trace -profile", "whocall trace -stacks -thread 1",
            "whocall compare -shadow", "whocall compare -shadow -all -json"]  # fmt: skip


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    exe = build(tmp_path_factory.mktemp("traced"), "counted.c", "-O1")
    return run(exe, "100", WHOCALL_TRACE_EVENTS="512")


@pytest.fixture(scope="module")
def session(traced: Ran) -> dict[Question, Answer]:
    return asked(COMMANDS, [traced.exe, traced.core])


def test_the_same_text_as_on_the_command_line(session: dict[Question, Answer], traced: Ran) -> None:
    assert session["whocall trace"].out == said("trace", traced.core)
    assert session["whocall trace -profile"].out == said("trace", traced.core, "--profile")
    assert "Thread 1 is not in the trace" in session["whocall trace -stacks -thread 1"].err


def test_shadow_stacks(session: dict[Question, Answer]) -> None:
    found = session["whocall compare -shadow"].out.splitlines()
    assert found[0].split() == ["verdict", "whocall", "shadow", "stack"]
    assert found[-1].endswith("activations, and no frame that contradicts it.")
    document = json.loads(session["whocall compare -shadow -all -json"].out)
    assert [thread["agrees"] for thread in document["threads"]] == [True] * 8


def test_a_live_program_and_a_file(traced: Ran, tmp_path: Path) -> None:
    output = tmp_path / "profile.txt"
    live = batch(
        ["set environment WHOCALL_TRACE_EVENTS=512", "run 100 > /dev/null",
         "whocall trace -profile", f"whocall trace -profile -output {output}"],
        [traced.exe],
    )  # fmt: skip
    rows = [line.split()[-2:] for line in live.out.splitlines() if line.endswith((" turn", " odd"))]
    counted = traced.counts()
    assert {name: int(calls) for calls, name in rows} == {
        name: counted[name] for name in ("turn", "odd")
    }
    assert "leaf" in output.read_text()
    trace = tmp_path / "trace"
    run(
        traced.exe,
        "100",
        folder=tmp_path,
        WHOCALL_TRACE_FILE=str(trace),
        WHOCALL_TRACE_EVENTS="512",
    )
    file = batch([f"whocall trace -profile {trace}"])
    assert file.out == said("trace", trace, "--profile")

"""What people type first: files in gdb's order, pathlib's paths, print(), --json."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from corpus.build import run
from corpus.crash import crash

import whocall
from whocall.cli import main as cli

SCHEMAS = Path(whocall.__file__).parent / "schema"
PROGRAM = """
#include <stdlib.h>
__attribute__((noinline)) int inner(int n) { if (n) abort(); return n; }
int main(int argc, char **argv) { return inner(argc) + 1; }
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A stripped program and its core."""
    place = tmp_path_factory.mktemp("convenience")
    (place / "program.c").write_text(PROGRAM, encoding="utf-8")
    run(["gcc", "-O1", "-s", "program.c", "-o", "program"], place)
    return place / "program", crash(place / "program", place).core


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, int]:
    status = cli.main(list(map(str, words)))
    return capsys.readouterr().out, status


@pytest.mark.parametrize("command", ["bt", "why", "modules", "caller"])
def test_gdbs_order_of_files(
    command: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    program, core = files
    assert said(capsys, command, program, core) == said(capsys, command, core, program)


def test_of_several_cores_one_may_be_a_program(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    program, core = files
    wanted = said(capsys, "report", "--json", "--no-gdb", core, "--exe", program)
    assert wanted[1] == 0
    for order in ([program, core], [core, program]):
        assert said(capsys, "report", "--json", "--no-gdb", *order) == wanted
    both = said(capsys, "report", "--json", "--no-gdb", program, core, core)
    assert both[1] == 1  # which of the cores it belongs to is not told


def test_paths_and_text(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    program, core = files
    with whocall.open_core(core, program) as image:
        report = image.report([image.index_of_crash()])
        text = whocall.backtrace_text(report)
        (trace,) = report.threads
        assert f"pc={trace.frames[0].pc:#x}" in repr(trace.frames[0])
        assert "inferred" not in repr(trace.frames[0])
        assert whocall.backtrace_text(trace) == text
        assert report._repr_html_() == trace._repr_html_() == f"<pre>{html.escape(text)}</pre>"
        lost = replace(trace, frames=list(trace.frames))
        assert lost._repr_html_() is None
    assert text == said(capsys, "bt", core, program)[0]


def _checked(out: str) -> dict[str, Any]:
    """Against the schema that it names; that of a frame is that of a backtrace."""
    found: dict[str, Any] = json.loads(out)
    name = found["schema"].removeprefix("whocall.").replace("/", "-")
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    if "$defs" in schema:
        number = 2 if name.startswith("backtrace") else 1
        whole = json.loads((SCHEMAS / f"backtrace-{number}.json").read_text())
        assert schema["$defs"]["frame"] == whole["$defs"]["frame"]
    return found


def test_json(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    program, core = files
    out, status = said(capsys, "caller", "--json", core, program)
    called = _checked(out)
    assert (called["schema"], status) == ("whocall.caller/1", 0)
    assert called["caller"]["level"] == called["callee"]["level"] + 1
    assert called["sentence"] in said(capsys, "caller", core, program)[0]

    out, status = said(capsys, "symbol", "--json", program, "main", "nonesuch", "sub_1")
    found = _checked(out)
    assert (found["schema"], status) == ("whocall.symbol/1", 1)
    assert [place["function"] for place in found["places"]] == ["main"]
    assert len(found["warnings"]) == 2

    out, status = said(capsys, "doctor", "--json")
    health = _checked(out)
    assert health["schema"] == "whocall.doctor/1"
    assert health["healthy"] == (status == 0)
    assert {"subject", "text", "remedy", "only_for"} == set(health["findings"][0])

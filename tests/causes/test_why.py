"""What happened, on the command line and in gdb: the page's sentence and what shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from acceptance.helpers.broken_files import SCRIPT

import whocall
from causes.programs import SOURCES, compiled, core_of, happened

SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "why-1.json").read_text())


def why(*arguments: str | Path) -> str:
    line = [sys.executable, str(SCRIPT), "why", *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def in_gdb(*commands: str, files: tuple[Path, ...] = ()) -> str:
    line = ["gdb", "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}"]
    for command in commands:
        line += ["-ex", command]
    ran = subprocess.run([*line, *map(str, files)], capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["null-access", "assertion", "division", "wild-call"])
def test_the_pages_sentence_is_told(name: str, place: Path) -> None:
    core = core_of(SOURCES[name], place / "why" / name / name)
    wanted = happened(core)
    first, second, *_ = why(core).splitlines()
    assert first == wanted["sentence"]
    assert second == f"  What shows it: {wanted['facts'][0]['proof'].rstrip('.')}."
    document = json.loads(why(core, "--json"))
    jsonschema.validate(document, SCHEMA)
    assert {key: document[key] for key in wanted} == wanted
    exe = place / "why" / name / name
    assert why(core) in in_gdb("whocall why", files=(exe, core))


def test_a_live_program_was_stopped(place: Path) -> None:
    exe = compiled(SOURCES["null-access"], place / "why" / "live" / "live")
    said = in_gdb("run", "whocall why", "kill", files=(exe,))
    assert "live was stopped by SIGSEGV in get" in said
    assert "it was reading 4 bytes at 0x4, 4 bytes past the null pointer in rdi" in said


def test_nothing_is_claimed_of_a_process_that_did_not_crash(place: Path) -> None:
    exe = compiled("int main(void) { return 0; }", place / "why" / "idle" / "idle")
    said = in_gdb("break main", "run", "whocall why", "kill", files=(exe,))
    assert "idle did not crash: it was stopped in main" in said
    assert "What shows it" not in said

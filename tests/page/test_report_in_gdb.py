"""The page on what gdb looks at, written by `whocall report` in gdb."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from acceptance.helpers.broken_files import SCRIPT
from causes.programs import SOURCES, compiled, core_of
from causes.test_why import in_gdb
from corpus.crash import crash

import whocall

SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "report-1.json").read_text())


def document(said: str) -> dict[str, Any]:
    """The data among what gdb and the program say."""
    found, _ = json.JSONDecoder().raw_decode(said[said.index('{\n "schema"') :])
    jsonschema.validate(found, SCHEMA)
    assert isinstance(found, dict)
    return found


def in_the_shell(core: Path, exe: Path) -> dict[str, Any]:
    line = [sys.executable, str(SCRIPT), "report", str(core), "--exe", str(exe), "--json"]
    return document(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("helper", ["on", "off"])
def test_the_page_of_a_core(helper: str, place: Path) -> None:
    core = core_of(SOURCES["null-access"], place / "in gdb" / "null" / "null")
    exe, page = place / "in gdb" / "null" / "null", place / f"page-{helper}.html"
    data, wanted = place / f"data-{helper}.json", in_the_shell(core, exe)
    said = in_gdb(
        f"set whocall helper {helper}",
        f"whocall report -output '{page}' -title 'one core'",
        f"whocall report -o '{data}' -json",
        files=(exe, core),
    )
    assert f"{page}: page written" in said, said
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "one core" in text
    assert "it was reading 4 bytes at 0x4, 4 bytes past the null pointer in rdi" in text
    found, other = document(data.read_text())["crashes"][0], wanted["crashes"][0]
    for key in ("happened", "places", "stacks", "threads", "modules", "main"):
        assert found[key] == other[key], key
    assert found["comparison"]["counts"] == other["comparison"]["counts"]


def test_the_page_of_a_live_program_shows_the_selected_thread(place: Path) -> None:
    source = """
    #include <pthread.h>
    #include <unistd.h>
    static void *waits(void *p) { pause(); return p; }
    int main(void) {
        pthread_t one, two;
        pthread_create(&one, 0, waits, 0);
        pthread_create(&two, 0, waits, 0);
        sleep(1);
        return *(volatile int *)8;
    }
    """
    exe = compiled(source, place / "in gdb" / "live" / "live", "-pthread")
    said = in_gdb("run", "thread 3", "whocall report -json", "kill", files=(exe,))
    found = document(said)["crashes"][0]
    assert found["happened"]["thread"] == 3
    assert found["threads"][found["main"]]["number"] == 3
    assert found["comparison"]["counts"]["missing"] == 0


def test_gdbs_own_frames_are_left_out(place: Path) -> None:
    core = core_of(SOURCES["null-access"], place / "in gdb" / "null" / "null")
    exe = place / "in gdb" / "null" / "null"
    said = in_gdb("whocall report -json -no-gdb", files=(exe, core))
    assert document(said)["crashes"][0]["comparison"] is None


def test_frames_of_a_repaired_gdb_are_not_its_own(place: Path) -> None:
    exe = place / "in gdb" / "bare" / "bare"
    core = crash(compiled(SOURCES["null-access"], exe, "-s"), exe.parent).core
    said = in_gdb("whocall repair", "whocall report -json", files=(exe, core))
    found = document(said)["crashes"][0]
    assert found["comparison"] is None
    assert any("gdb is repaired" in each for each in found["left_out"])


def test_a_page_needs_a_name(place: Path) -> None:
    core = core_of(SOURCES["null-access"], place / "in gdb" / "null" / "null")
    said = in_gdb("whocall report", files=(place / "in gdb" / "null" / "null", core))
    assert "say where with -output FILE.html, or ask for -json" in said

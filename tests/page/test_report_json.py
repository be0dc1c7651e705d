"""The data of a report: its schema, and the same as the other commands say."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from causes.programs import SOURCES, core_of

import whocall
from whocall import open_core
from whocall.base.loader import python_here
from whocall.base.process_image import Walk
from whocall.cli.main import main
from whocall.report.form.jsonform import frame_json
from whocall.report.page.document import PageOptions, document
from whocall.report.page.limits import Limits

SCHEMA = json.loads(
    (Path(whocall.__file__).parent / "schema" / "report-1.json").read_text(encoding="utf-8")
)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(list(words)) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_it_keeps_to_its_schema(
    workers_core: Path, hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cores = [str(workers_core), str(hostile)]
    report = said(capsys, "report", *cores, "--json")
    jsonschema.validate(report, SCHEMA)
    assert [crash["source"]["core"] for crash in report["crashes"]] == cores
    assert report["crashes"][0]["comparison"]["rows"]
    report["crashes"][0]["threads"][0]["stack"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, SCHEMA)


def test_its_frames_are_those_of_bt(
    workers_core: Path, workers_report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    crash = workers_report["crashes"][0]
    traces = said(capsys, "bt", str(workers_core), "--all", "--past-main", "--json")["threads"]
    assert len(traces) == len(crash["threads"])
    for thread, trace in zip(crash["threads"], traces):
        assert thread["lwp"] == trace["lwp"]
        places = [crash["places"][at] for at in crash["stacks"][thread["stack"]]["frames"]]
        assert len(places) == len(trace["frames"])
        for place, frame in zip(places, trace["frames"]):
            of_the_walk = ("level", "cfa", "arguments", "source_hints")
            assert {key: place[key] for key in frame if key not in of_the_walk} == {
                key: value for key, value in frame.items() if key not in of_the_walk
            }


def test_registers_and_words_are_those_of_the_walk(
    workers_core: Path, workers_report: dict[str, Any]
) -> None:
    detail = workers_report["crashes"][0]["details"][0]
    with open_core(str(workers_core)) as image:
        trace = image.backtrace(0, Walk(past_main=True, registers=True))
        assert [found["level"] for found in detail["frames"]] == [f.level for f in trace.frames]
        for found, frame in zip(detail["frames"], trace.frames):
            assert found["cfa"] == frame_json(frame)["cfa"]
            assert found["registers"] == {
                name: f"{value:#x}" for name, value in (frame.registers or {}).items()
            }
            for address, value, kind, _ in found["words"]:
                assert image.word_at(int(address, 16)) == int(value, 16)
                if kind == "return":
                    assert int(value, 16) == trace.frames[frame.level + 1].pc


def test_both_ends_of_a_long_stack_are_looked_at_closely(overflow_core: Path) -> None:
    limits = Limits(innermost=5, outermost=3)
    with open_core(str(overflow_core)) as image:
        crash = document([image], PageOptions(limits=limits))["crashes"][0]
        count = len(crash["stacks"][0]["frames"])
        trace = image.backtrace(0, Walk(past_main=True))
    levels = [found["level"] for found in crash["details"][0]["frames"]]
    assert levels == [0, 1, 2, 3, 4, count - 3, count - 2, count - 1]
    sp = {found["level"]: found["sp"] for found in crash["details"][0]["frames"]}
    assert sp[count - 3] == f"{trace.frames[count - 4].cfa:#x}"
    assert crash["details"][0]["frames"][-1]["words"]


def test_what_limits_leave_out_is_said(overflow_core: Path) -> None:
    limits = Limits(frames=100, words=20, listings=1)
    with open_core(str(overflow_core)) as image:
        report = document([image], PageOptions(limits=limits))
    jsonschema.validate(report, SCHEMA)
    crash = report["crashes"][0]
    assert len(crash["stacks"][0]["frames"]) == 100
    assert crash["stacks"][0]["left_out"] > 1000
    told = " ".join(crash["left_out"])
    for what in ("frames of long stacks", "words of stacks", "the instructions around"):
        assert what in told


def test_disassembly_is_that_of_gdb(workers_core: Path, workers_report: dict[str, Any]) -> None:
    crash = workers_report["crashes"][0]
    place = crash["places"][crash["stacks"][crash["threads"][0]["stack"]]["frames"][0]]
    rows = place["listing"]
    assert place["pc"] in [row[0] for row in rows]
    begin, end = rows[0][0], hex(int(rows[-1][0], 16) + len(rows[-1][1]) // 2)
    exe = workers_core.parent.parent / "workers"
    ran = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", f"disassemble /r {begin},{end}", str(exe),
         str(workers_core)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = re.findall(
        r"^(?:=>)? *(0x[0-9a-f]+)[^:\n]*:\t([0-9a-f ]+)\t(\w+)", ran.stdout, re.MULTILINE
    )
    assert [(int(row[0], 16), row[1]) for row in rows] == [
        (int(address, 16), data.replace(" ", "")) for address, data, _ in theirs
    ]


def test_without_gdb_there_is_no_comparison(
    workers_core: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = said(capsys, "report", str(workers_core), "--json", "--no-gdb")
    assert report["crashes"][0]["comparison"] is None
    assert report["crashes"][0]["left_out"] == []
    monkeypatch.setenv("GDB", "/no/such/gdb")
    report = said(capsys, "report", str(workers_core), "--json")
    assert report["crashes"][0]["comparison"] is None
    assert "gdb's own backtrace: cannot start /no/such/gdb" in report["crashes"][0]["left_out"][0]


def test_bad_input_is_one_sentence_and_no_page(
    tmp_path: Path, workers_core: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    for words, status, told in (
        (["report", str(workers_core)], 2, "-o FILE.html"),
        (["report", str(tmp_path / "none"), "-o", str(page)], 1, "cannot be opened"),
        (["report", str(tmp_path), str(tmp_path), "-o", str(page)], 1, str(tmp_path)),
        (["report", str(workers_core), "-o", str(tmp_path / "no" / "x")], 1, "choose another"),
    ):
        assert main(words) == status
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("turned", [False, True])
def test_a_core_that_cannot_be_read_leaves_the_others_their_page(
    tmp_path: Path, workers_core: Path, capsys: pytest.CaptureFixture[str], turned: bool
) -> None:
    """What is wrong with it is said, on the page too."""
    bad = tmp_path / "bad"
    bad.write_bytes(workers_core.read_bytes()[:100])
    cores = [str(bad), str(workers_core)][:: -1 if turned else 1]
    page = tmp_path / "page.html"
    assert main(["report", *cores, "-o", str(page), "--no-gdb"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"whocall: {bad}: ")
    assert error.count("\n") == 1
    assert "it is truncated" in page.read_text(encoding="utf-8")
    assert main(["report", *cores, "--json", "--no-gdb"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert len(report["crashes"]) == 1
    assert str(bad) in report["crashes"][0]["left_out"][0]


def test_a_page_replaces_the_one_before_whole(tmp_path: Path, place: Path) -> None:
    core = core_of(SOURCES["abort"], place / "whole" / "program")
    page = tmp_path / "page.html"
    page.write_text("old")
    assert main(["report", str(core), "-o", str(page), "--no-gdb"]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [page]


def test_without_templates_it_says_what_to_install(
    tmp_path: Path,
    workers_core: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["report", str(workers_core), "-o", str(tmp_path / "page.html")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "whocall: a page (unlike --json) needs jinja2, which this Python lacks; "
    )
    assert "-m pip install jinja2`" in said
    assert list(tmp_path.iterdir()) == []
    assert main(["report", str(workers_core), "--json", "--no-gdb"]) == 0


def test_a_packed_core_gives_the_same_report(
    workers_core: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "core.gz"
    packed.write_bytes(gzip.compress(workers_core.read_bytes(), 1))
    plain, other = (
        said(capsys, "report", str(core), "--json")["crashes"][0] for core in (workers_core, packed)
    )
    assert other["source"]["core"] == str(packed)
    assert plain["written"].endswith(" UTC")
    for each in (plain, other):
        del each["source"], each["written"]
    assert plain == other


def test_what_a_reporter_noted_is_kept(workers_core: Path) -> None:
    with open_core(str(workers_core)) as image:
        image.came_as("crash", {"unit": "a.service", "cmdline": "x <y>", "odd": "1"}, [], None)
        crash = document([image], PageOptions())["crashes"][0]
    assert crash["origin"] == {"unit": "a.service", "command": "x <y>"}
    assert crash["source"]["core"] == "crash"


@pytest.mark.parametrize(
    ("library", "arguments"),
    [
        ("jinja2", ("--format", "html", "-o", "page.html")),
        ("distributed", ("--scheduler", "tcp://127.0.0.1:1", "-o", "found.txt")),
    ],
)
def test_triage_says_what_to_install_before_it_walks(
    library: str,
    arguments: tuple[str, ...],
    tmp_path: Path,
    workers_core: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.chdir(tmp_path)
    assert main(["triage", str(workers_core), *arguments]) == 1
    assert f"-m pip install {library}`" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_in_a_virtual_environment_it_is_that_ones_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The one that it was made of may not be changed by pip."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert python_here() == sys.executable


def test_arguments_are_those_of_bt(
    workers_core: Path, workers_report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of every frame that was looked at closely, and as text has them."""
    core = str(workers_core)
    traces = said(capsys, "bt", core, "--all", "--past-main", "--json")["threads"]
    assert main(["bt", core, "--past-main"]) == 0
    text = capsys.readouterr().out
    crash = workers_report["crashes"][0]
    told = 0
    for detail in crash["details"]:
        for frame in detail["frames"]:
            ours = frame["arguments"]
            assert ours == traces[detail["thread"]]["frames"][frame["level"]]["arguments"]
            if detail["thread"] == crash["main"] and ours:
                told += 1
                assert ", ".join(each["shown"] for each in ours) in text
    assert told > 2

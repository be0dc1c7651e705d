"""What a program says of itself stands in its reports and records, and forges nothing in them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build, crash
from runtime.reports import Report, read_record

PREFIX = "annotation: "
TOLD = {
    "release": "4.2",
    "customer": "Café?#0  0x1 forged [cfi]?[31m",
    "long": "x" * 126,
    "like a frame": "#0  0x0000000000001234 /bin/ls(+0x1234) main+0x4 [cfi]",
}


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotated")
    library = LIBRARIES / "libwhocall.so"
    return build(folder, "annotated.c", str(library), f"-Wl,-rpath,{LIBRARIES}")


def told(report: Report) -> dict[str, str]:
    lines = [line[len(PREFIX) :] for line in report.lines if line.startswith(PREFIX)]
    return {key: value for key, _, value in (line.partition(" = ") for line in lines)}


def resolved(path: Path, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "whocall", "resolve", path, *words],
        env={**os.environ, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", check=True, timeout=120,
    ).stdout  # fmt: skip


def test_reports_and_records_tell_them(annotated: Path, tmp_path: Path) -> None:
    path = tmp_path / "record"
    (report,), status, _ = crash(annotated, WHOCALL_CRASH_RECORD=str(path))
    assert status == -11
    assert told(report) == TOLD
    assert report.names[0].startswith("main")
    record, _ = read_record(path.read_bytes())
    assert record.annotations == TOLD
    assert [line for line in resolved(path).splitlines() if line.startswith(PREFIX)] == [
        f"{PREFIX}{key} = {value}" for key, value in TOLD.items()
    ]


def test_what_has_no_room(annotated: Path) -> None:
    (report,), status, _ = crash(annotated, "refuses")
    assert status == -11
    assert told(report) == {
        f"key {number}": "another" if number == 3 else "value"
        for number in range(16)
        if number != 4
    }


def test_none_is_lost_in_threads_and_children(annotated: Path) -> None:
    _, status, output = crash(annotated, "in", "forks", preload=False)
    assert (status, output) == (0, "0 failed\n")


def test_no_reader_takes_one_for_a_frame(annotated: Path, tmp_path: Path) -> None:
    path = tmp_path / "text"
    crash(annotated, WHOCALL_CRASH_TEXT=str(path))
    for words in ("", "Nov 29 08:00:00 host prog[1]: "):
        path.write_text("".join(f"{words}{line}\n" for line in path.read_text().splitlines()))
        assert "main+0x4" in resolved(path)  # as it was
        places = json.loads(resolved(path, "--json"))["places"]
        assert places
        assert not [place for place in places if place["module"] == "/bin/ls"]


def test_a_hostile_record_forges_no_line(annotated: Path, tmp_path: Path) -> None:
    path = tmp_path / "record"
    crash(annotated, WHOCALL_CRASH_RECORD=str(path))
    data = bytearray(path.read_bytes())
    at = data.index(b"4.2")
    data[at : at + 3] = b"\n#0"
    data[20:24] = bytes(4)
    data[20:24] = struct.pack("<I", zlib.crc32(data))
    path.write_bytes(data)
    assert f"{PREFIX}release = \\n#0" in resolved(path).splitlines()

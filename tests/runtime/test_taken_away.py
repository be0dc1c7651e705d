"""Reports where something is gone that there was at the start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from places import mounts
from places.needs import OWN_MOUNTS

from runtime.lab import PRELOAD, build, crash
from runtime.reports import Report, read_reports

END = ["boom", "main", "__libc_start_call_main", "__libc_start_main", "_start"]
USUAL_STACK = 8192  # SIGSTKSZ
FRAME_WITHOUT_AVX512 = 1776  # bytes that the kernel takes of it, with all registers up to AVX's


@pytest.fixture(scope="module")
def taken_away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("taken_away"), "taken_away.c", "-O1", "-Wl,--build-id")


def modules(report: Report) -> dict[str, str]:
    """The build ids of the report's modules, by path."""
    line = re.compile(r"module: 0x\w+-0x\w+ bias 0x\w+ build id (\S+) (\S+)")
    found = (line.fullmatch(one) for one in report.lines)
    return {one.group(2): one.group(1) for one in found if one}


def build_id_of(program: Path) -> str:
    said = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True, check=True)
    (found,) = re.findall(r"Build ID: (\w+)", said.stdout)
    return str(found)


def test_the_environment(taken_away: Path, tmp_path: Path) -> None:
    """redis, nginx and PostgreSQL write their title over it: the path is that of the start."""
    path = tmp_path / "report-%p"
    record = tmp_path / "record"
    given = {"WHOCALL_CRASH_TEXT": str(path), "WHOCALL_CRASH_RECORD": str(record)}
    reports, status, _ = crash(taken_away, "environment", **given)
    assert (reports, status) == ([], -signal.SIGSEGV)
    (written,) = tmp_path.glob("report-*")
    (report,) = read_reports(written.read_text())
    assert report.names == END
    assert record.stat().st_size > 1000
    assert not list(taken_away.parent.glob("x*"))


def test_file_descriptors(taken_away: Path) -> None:
    """Neither /proc nor a file can be opened; what is in memory tells of the modules."""
    (report,), status, _ = crash(taken_away, "descriptors")
    assert status == -signal.SIGSEGV
    assert report.complete
    assert next(frame.module for frame in report.frames()) == str(taken_away)
    found = modules(report)
    assert found[str(taken_away)] == build_id_of(taken_away)
    assert {Path(path).name for path in found} >= {"libc.so.6", "libwhocall-crash.so"}


@pytest.mark.needs(OWN_MOUNTS)
def test_proc(taken_away: Path) -> None:
    """The program is called what it was started as."""
    hidden = 'mount -t tmpfs none /proc && LD_PRELOAD="$0" exec "$@"'
    command = [sys.executable, mounts.__file__, "sh", "-c", hidden, PRELOAD, taken_away]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    (report,) = read_reports(ran.stderr)
    assert report.headline.startswith(f"whocall: {taken_away}[")
    assert report.names == END
    assert modules(report)[str(taken_away)] == build_id_of(taken_away)


def test_most_of_the_stack_for_handlers(taken_away: Path) -> None:
    """What programs have ever given it is enough where the kernel saves no AVX-512 registers."""
    frame = os.sysconf("SC_MINSIGSTKSZ")
    size = USUAL_STACK - FRAME_WITHOUT_AVX512 + max(frame, FRAME_WITHOUT_AVX512)
    (report,), _, _ = crash(taken_away, "stack", str(size))
    assert report.names == END
    assert report.complete


def test_what_is_missing_of_the_stack_for_handlers(taken_away: Path) -> None:
    """As many bytes as the line says make it a report. Processors have registers that count among
    the least, and that the kernel does not save where nobody has used them (AMX).
    """
    for size in range(os.sysconf("SC_MINSIGSTKSZ") + 2048, 2048, -1024):
        reports, status, output = crash(taken_away, "stack", str(size))
        if not reports:
            break
    assert (reports, status) == ([], -signal.SIGSEGV)
    missing = re.search(r"too small for a report: give it (\d+) bytes more,", output)
    assert missing is not None
    (report,), _, _ = crash(taken_away, "stack", str(size + int(missing.group(1))))
    assert report.complete

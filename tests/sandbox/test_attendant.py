"""The process beside: it cleans up whatever happens, and the gdb that it starts is confined too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults.commands import Place, run

PATIENCE = 30  # seconds: a guard against hanging for ever
CONFINED = """
import sys, time
from whocall.cli import sandbox
from whocall.cli.parsing import parse_command
from whocall.dumps import sparse
arguments = parse_command(sys.argv[1:])
sandbox.begin(sys.argv[1], arguments)
open(sparse.place() + "/left", "w").write("text")
print("ready", flush=True)
time.sleep(600)
"""
AT_ONCE = """
import os, sys, tempfile
from whocall.cli import sandbox
from whocall.cli.parsing import parse_command
made = tempfile.mkdtemp
def make(*names, **more):
    folder = made(*names, **more)
    os.kill(os.getpid(), int(sys.argv[1]))
    return folder
tempfile.mkdtemp = make
sandbox.begin(sys.argv[2], parse_command(sys.argv[2:]))
"""
FAKE = """#!/bin/sh
{ echo made > "$TARGET/made"; } 2>/dev/null
{ rm "$TARGET/there"; } 2>/dev/null
echo 'whocall-frames:{"1": {"frames": [], "stop": ""}}'
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left(number: signal.Signals, place: Place, tmp_path: Path) -> None:
    output = tmp_path / "output"
    output.write_text("as it was")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-c", CONFINED, "unpack", str(place.core), "-o", str(output)]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        assert len(list(temporary.iterdir())) == 1
        child.send_signal(number)
    end = time.monotonic() + PATIENCE
    while list(temporary.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert list(temporary.iterdir()) == []
    assert output.read_text() == "as it was"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".whocall-")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_what_was_just_made(
    number: signal.Signals, place: Place, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", AT_ONCE, str(int(number)), "triage", str(place.core)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, env=environment, timeout=PATIENCE)
    assert ran.returncode == -number, ran
    end = time.monotonic() + PATIENCE
    while list(tmp_path.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("confined", [True, False])
def test_gdb_is_confined(confined: bool, place: Place, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "there").write_text("text")
    fake = tmp_path / "gdb"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    more = [] if confined else ["--no-sandbox"]
    ran = run(
        ["compare", place.core, place.exe, *more], env={"GDB": str(fake), "TARGET": str(target)}
    )
    assert "gdb has 0 of whocall's" in ran.stdout, ran
    assert [path.name for path in target.iterdir()] == (["there"] if confined else ["made"])

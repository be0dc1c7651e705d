"""The command line on cores: what it takes beside the files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import Crash
from sessions import SCRIPT, Said, environment


def whocall(command: str, crash: Crash, *options: str | Path) -> Said:
    ran = subprocess.run(
        [sys.executable, SCRIPT, command, crash.core, crash.exe, *options],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Said(ran.stdout, ran.stderr, ran.returncode)


def test_one_thread_by_its_number(workers: Crash) -> None:
    everyone = json.loads(whocall("bt", workers, "--all", "--json").out)["threads"]
    assert len(everyone) == 4
    for thread in everyone[1:]:
        alone = json.loads(whocall("bt", workers, "--thread", str(thread["lwp"]), "--json").out)
        assert alone["threads"] == [thread]
        said = whocall("caller", workers, "--thread", str(thread["lwp"]))
        waiting = [frame["function"] for frame in thread["frames"]]
        assert "pause" in waiting[:4]  # since glibc 2.41 it calls others
        assert said.out.startswith(f"{waiting[0]} was called by "), said.err


def test_the_caller_of_each_frame(chain: Crash) -> None:
    found = json.loads(whocall("bt", chain, "--json", "--past-main").out)["threads"][0]["frames"]
    for level in (0, 1, len(found) - 2):
        said = whocall("caller", chain, "--frame", str(level))
        assert f" {found[level + 1]['function']}" in said.out
    outermost = whocall("caller", chain, "--frame", str(len(found) - 1))
    assert " has no caller: " in outermost.out


@pytest.mark.parametrize(
    ("command", "options", "status", "part"),
    [
        ("bt", ["--thread", "1"], 1, "there is no thread with LWP 1"),
        ("bt", ["--thread", "1", "--all"], 2, "not allowed with argument"),
        ("caller", ["--frame", "999"], 1, "there is no frame 999"),
        ("caller", ["--frame", "1", "--pc", "12"], 1, "is not in the call chain"),
        ("compare", ["--gdb-frames", "/nowhere/frames"], 1, "/nowhere/frames: No such file"),
        ("compare", ["--gdb-frames", __file__], 1, "not gdb's frames as whocall writes them"),
        ("compare", ["--gdb-frames", "/dev/null"], 1, "it is no regular file"),
    ],
)
def test_what_cannot_be_done(
    command: str, options: list[str], status: int, part: str, chain: Crash
) -> None:
    said = whocall(command, chain, *options)
    assert said.status == status
    assert part in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("text", ["[]", "7", '{"x": {}}', '{"1": {"frames": [{}], "stop": ""}}'])
def test_frames_that_are_none(text: str, chain: Crash, tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    frames.write_text(text)
    said = whocall("compare", chain, "--gdb-frames", frames)
    assert (said.out, said.status) == ("", 1)
    assert "not gdb's frames as whocall writes them" in said.err


def test_the_walk_is_limited(chain: Crash) -> None:
    thread = json.loads(whocall("bt", chain, "--max-frames", "2", "--json").out)["threads"][0]
    assert (len(thread["frames"]), thread["stop"]["reason"]) == (2, "frame-limit")
    found = json.loads(whocall("compare", chain, "--without", "analysis", "--json").out)
    frames = [row["whocall"] for row in found["threads"][0]["rows"] if row["whocall"]]
    assert "analysis" not in {frame["trust"] for frame in frames}


def test_export_writes_the_same_of_a_file_and_of_a_core(chain: Crash, tmp_path: Path) -> None:
    file, core = tmp_path / "file", tmp_path / "core"
    for out, named in ((file, [chain.exe]), (core, [chain.core, "--exe", chain.exe])):
        ran = subprocess.run(
            [sys.executable, SCRIPT, "export", *named, "-o", out],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, "")
    assert file.read_bytes() == core.read_bytes()

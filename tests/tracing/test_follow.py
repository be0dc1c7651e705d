"""A trace that grows is told as it does, and each event once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from places.needs import ATTACHING

from tracing.lab import WHOCALL, build, run, said, whocall

SOURCE = """
#include <stdlib.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
KEPT static int leaf(int n) { return n + 1; }
KEPT static int turn(int n, int pause) { usleep(pause); return leaf(n) + leaf(n + 1); }
int main(int count, char **words) {
  int sum = 0;
  for (int i = 0; i < atoi(words[1]); i++) sum += turn(i, atoi(words[2]));
  return sum == 1;
}
"""


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turning")
    (folder / "turning.c").write_text(SOURCE)
    return build(folder, folder / "turning.c", "-O1")


def without_columns(text: str) -> list[str]:
    """What is called and what ends, in their order; a call that is whole is both."""
    found: list[str] = []
    for line in text.splitlines():
        shown = re.match(r" +[\d.]+ +\d+ .{10} +(.*)", line)
        if shown is None:
            continue
        what = shown[1]
        name = re.match(r"(?:\} )?(\w+)", what)
        assert name is not None, line
        if what.startswith("}"):
            found.append(f"}} {name[1]}")
        else:
            found += [name[1]] if "{" in what else [name[1], f"}} {name[1]}"]
    return found


def started(turning: Path, *words: str, **settings: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([turning, *words], env={"PATH": "/usr/bin:/bin", **settings})


def test_a_file_that_grows(turning: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with started(turning, "30", "60000", WHOCALL_TRACE_FILE=str(trace)) as program:
        time.sleep(0.5)
        followed = said("trace", trace, "--follow")
        assert program.wait(60) == 0
    whole = said("trace", trace)
    assert without_columns(followed) == without_columns(whole)
    assert without_columns(whole).count("turn") == 30
    times = [float(line.split()[0]) for line in followed.splitlines()]
    assert times == sorted(times)
    assert times[0] == 0


@pytest.mark.needs(ATTACHING)
def test_a_process(turning: Path) -> None:
    with started(turning, "30", "60000") as program:
        time.sleep(0.5)
        ran = whocall("trace", "--pid", str(program.pid), "--follow")
        assert program.wait(60) == 0
    assert (ran.returncode, ran.stderr) == (0, "")
    assert without_columns(ran.stdout).count("turn") >= 20
    assert without_columns(ran.stdout)[:3] == ["main", "turn", "leaf"]


def test_a_ring_that_is_too_small(turning: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    few = {"WHOCALL_TRACE_FILE": str(trace), "WHOCALL_TRACE_EVENTS": "64"}
    with started(turning, "3000", "500", **few) as program:
        time.sleep(0.3)
        followed = said("trace", trace, "--follow")
        assert program.wait(60) == 0
    lost = re.findall(r"^\(([\d,]+) events of thread \d+ were lost\)$", followed, re.MULTILINE)
    assert lost
    told = len(without_columns(followed))
    assert 64 < told < 3000
    assert sum(int(each.replace(",", "")) for each in lost) > 1000


def test_it_is_read_no_further(turning: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with started(turning, "1000", "60000", WHOCALL_TRACE_FILE=str(trace)) as program:
        time.sleep(0.5)
        command = [sys.executable, WHOCALL, "trace", trace, "--follow"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as following:  # fmt: skip
            assert following.stdout is not None
            assert "main {" in following.stdout.readline()
            following.send_signal(signal.SIGINT)
            assert following.wait(30) == 130
            assert following.stderr is not None
            assert following.stderr.read() == ""
        program.kill()


def test_what_has_no_end_to_come(turning: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run(turning, "3", "10", WHOCALL_TRACE_FILE=str(trace))
    assert without_columns(said("trace", trace, "--follow")).count("turn") == 3
    for words in (["--profile"], ["--last", "3"]):
        assert whocall("trace", trace, "--follow", *words).returncode == 2
    assert whocall("trace", tmp_path / "none", "--follow").returncode == 1

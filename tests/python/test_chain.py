"""Frames that are made when they are asked for, on a real program: as if all were made at once."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import Crash, compiled, shared
from test_cli import run

import whocall
from whocall.core import chain as chains
from whocall.core.chain import FrameChain
from whocall.core.model import Backtrace, glance
from whocall.report.form.jsonform import backtrace_text

# The copy wipes the return address of `smashed` and stops; those of its callers are untouched.
SMASHED = """
#include <stdlib.h>
__attribute__((noinline)) void smashed(volatile char *room) {
  char own[8]; volatile char *at = own;
  for (int i = 0; i < 16; i++) at[i + 8] = 0x41;
  room[0] = at[3]; __builtin_trap(); }
__attribute__((noinline)) int caller(int n) {
  volatile char room[64]; room[n] = 1; smashed(room); return room[n + 1] + 1; }
__attribute__((noinline)) int outer(int n) { return caller(n) + 2; }
int main(int argc, char **argv) { (void)argv; return outer(argc) + 1; }
"""
FLAGS = "-O1 -g -fno-stack-protector -fomit-frame-pointer -w"


@pytest.fixture(scope="module")
def smashed() -> Crash:
    """smashed <- caller <- outer <- main; the first return address is gone."""
    return shared("smashed", SMASHED, FLAGS)


@pytest.fixture(scope="module")
def whole(smashed: Crash) -> Backtrace:
    with whocall.open_core(str(smashed.core), str(smashed.exe)) as image:
        return image.backtrace(0, whocall.Walk(past_main=True))


@pytest.fixture
def on_demand(smashed: Crash, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backtrace]:
    monkeypatch.setattr(chains, "KEPT", 0)
    with whocall.open_core(str(smashed.core), str(smashed.exe)) as image:
        yield image.backtrace(0, whocall.Walk(past_main=True))


def test_a_search_is_what_all_above_rests_on(whole: Backtrace) -> None:
    trusts = [frame.trust for frame in whole.frames]
    assert trusts.count("scan") == 1
    at = trusts.index("scan")
    assert at > 0 and len(trusts) > at + 2
    assert "scan" not in trusts[at + 1 :]
    assert [frame.rests_on for frame in whole.frames] == [None] * (at + 1) + [at] * (
        len(trusts) - at - 1
    )


def test_every_face_says_so(smashed: Crash, whole: Backtrace) -> None:
    frames = len(whole.frames)
    at = next(frame.level for frame in whole.frames if frame.trust == "scan")
    resting = frames - at - 1
    lines = run("bt", str(smashed.core), str(smashed.exe), "--past-main").stdout.splitlines()
    assert lines[-1] == f"{resting} of {frames} frames rest on the search at #{at}."
    everyone = run("bt", str(smashed.core), str(smashed.exe), "--past-main", "--all").stdout
    assert everyone.splitlines()[-1] == lines[-1]
    said = run("caller", str(smashed.core), str(smashed.exe), "--frame", str(at)).stdout
    assert said.endswith(f", but it rests on the search of the stack that found #{at}]\n")
    said = run("caller", str(smashed.core), str(smashed.exe), "--frame", str(at - 1)).stdout
    assert "rests on" not in said
    compared = run("compare", str(smashed.core), str(smashed.exe)).stdout.splitlines()
    assert compared[-1].endswith(f" {resting} of whocall's {frames} rest on a search of the stack.")


def test_inlined_calls_rest_on_what_their_frame_rests_on(smashed: Crash) -> None:
    with whocall.open_core(str(smashed.core), str(smashed.twin)) as image:
        frames = image.backtrace(0, whocall.Walk(past_main=True)).frames
    for inner, outer in zip(frames, frames[1:]):
        assert not inner.inlined or inner.rests_on == outer.rests_on


def test_frames_on_demand_are_the_frames(whole: Backtrace, on_demand: Backtrace) -> None:
    found = on_demand.frames
    assert isinstance(found, FrameChain)
    assert isinstance(whole.frames, list)
    assert found == whole.frames
    assert [found[at] for at in range(len(found))] == whole.frames
    assert found[-1] == whole.frames[-1]
    assert found[1:3] == whole.frames[1:3]
    assert isinstance(found[1:3], FrameChain)
    assert [frame.pc for frame in glance(found)] == [frame.pc for frame in whole.frames]
    with pytest.raises(IndexError):
        found[len(found)]


def test_the_ends_of_a_chain_on_demand(whole: Backtrace, on_demand: Backtrace) -> None:
    paths = {frame.module for frame in whole.frames if frame.module}
    for of, other in ((on_demand, whole), (on_demand.take(-2), whole.take(-2))):
        assert of.frames == other.frames
        assert of.cut_at_main(paths).frames == other.cut_at_main(paths).frames
    assert on_demand.cut_at_main(paths).stop.reason == "main"


def test_json_of_frames_on_demand(smashed: Crash, on_demand: Backtrace) -> None:
    report = whocall.Report(arch="x86_64", threads=(on_demand,), core=str(smashed.core),
                            exe=str(smashed.exe))  # fmt: skip
    said = run("bt", str(smashed.core), str(smashed.exe), "--past-main", "--json").stdout
    assert "".join(backtrace_text(report)) == said


def _state(pid: int) -> str:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^State:\s+(\S)", text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_a_process_goes_on_when_it_is_closed_also_where_frames_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "KEPT", 0)
    source = "#include <unistd.h>\nint main(void) { for (;;) pause(); }"
    process = subprocess.Popen([compiled(tmp_path, "waiting", source)])
    try:
        while _state(process.pid) != "S":
            time.sleep(0.01)
        with whocall.open_process(process.pid) as image:
            assert _state(process.pid) == "t"
            trace = image.backtrace(0)
        assert isinstance(trace.frames, FrameChain)
        end = time.monotonic() + 10
        while _state(process.pid) != "S" and time.monotonic() < end:
            time.sleep(0.01)
        assert _state(process.pid) == "S"
        assert trace.frames[-1].function is not None
    finally:
        process.kill()
        process.wait()

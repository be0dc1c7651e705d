"""Frames that are made when they are asked for, on a real program: as if all were made at once."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from programs import Crash, compiled, shared
from test_cli import run

import whocall
from whocall.base.model import FIELDS, Backtrace, Frame, TextForm
from whocall.base.native_backtraces import BLOCK, FrameSequence
from whocall.report.backtrace.written import report_text
from whocall.report.form.jsonform import backtrace_text, frame_json, text
from whocall.report.form.style import AnsiStyle, Style

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
# Two functions take turns; every other frame holds an inlined call.
TURNS = r"""
#include <stdlib.h>
void even(int n);
#line 5 "a \"b\" \\ \b\f\n\r\t\001\177 \303\244 \377\342\202x\360\237\230\200\355\240\200\342\202"
static inline __attribute__((always_inline)) void between(int n) {
  if (n == 7) abort(); even(n - 1); __asm__ volatile(""); }
__attribute__((noinline)) void odd(int n) { between(n); __asm__ volatile(""); }
__attribute__((noinline)) void even(int n) { odd(n - 1); __asm__ volatile(""); }
int main(void) { even(1000); return 1; }
"""
# Four threads on one stack, two on others.
CROWD = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
volatile int resting, sink;
__attribute__((noinline)) void rest(void) {
  __sync_fetch_and_add(&resting, 1); for (;;) pause(); }
__attribute__((noinline)) void down(long n) { if (n == 0) rest(); else down(n - 1); sink++; }
void *start(void *depth) { down((long)depth); return 0; }
int main(void) {
  static const long depths[] = {5, 30, 5, 5, 80, 5};
  pthread_t thread;
  for (int at = 0; at < 6; at++) pthread_create(&thread, 0, start, (void *)depths[at]);
  while (resting < 6) usleep(1000);
  abort(); }
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


@pytest.fixture(scope="module")
def deep() -> Backtrace:
    """A long recursion with inlined calls and a source file whose name is hard to write."""
    crash = shared("taking-turns", TURNS, "-O1 -g -w -fno-optimize-sibling-calls")
    with whocall.open_core(str(crash.core), str(crash.twin)) as image:
        return image.backtrace(0, whocall.Walk(past_main=True))


@pytest.fixture(scope="module")
def twin_trace(smashed: Crash) -> Backtrace:
    with whocall.open_core(str(smashed.core), str(smashed.twin)) as image:
        return image.backtrace(0, whocall.Walk(past_main=True))


def as_data(trace: Backtrace) -> Backtrace:
    """The same with every frame made, so that Python writes it."""
    return replace(trace, frames=list(trace.frames))


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


def test_frames_on_demand_are_the_frames(whole: Backtrace) -> None:
    found, made = whole.frames, list(whole.frames)
    assert isinstance(found, FrameSequence)
    assert found == made
    assert made == found
    assert found != made[1:]
    assert [found[at] for at in range(len(found))] == made
    assert found[-1] == made[-1]
    assert found[1:3] == made[1:3]
    assert found[::-2] == made[::-2]
    assert isinstance(found[1:3], FrameSequence)
    assert repr(found) == repr(made)
    with pytest.raises(IndexError):
        found[len(found)]


def test_frames_of_many_blocks(deep: Backtrace) -> None:
    assert len(deep.frames) > 3 * BLOCK
    for frames in (deep.frames, deep.frames[7 : 2 * BLOCK + 7], deep.frames[::-1]):
        assert [frame.level for frame in frames] == [row[0] for row in all_rows(frames)]
        assert list(frames) == [frames[at] for at in range(len(frames))]


def all_rows(frames: Sequence[Frame]) -> list[tuple[object, ...]]:
    assert isinstance(frames, FrameSequence)
    return list(frames.rows(FIELDS))


def test_rows_are_the_values_of_the_frames(whole: Backtrace) -> None:
    for trace in (whole, as_data(whole)):
        assert list(trace.rows()) == [
            tuple(getattr(frame, field) for field in FIELDS) for frame in whole.frames
        ]
        assert list(trace.rows("pc")) == [(frame.pc,) for frame in whole.frames]
        assert list(trace.rows("trust", "pc")) == [(at.trust, at.pc) for at in whole.frames]
    with pytest.raises(ValueError, match='no field "color"'):
        list(whole.rows("color"))


def test_frames_never_change_and_can_be_copied(whole: Backtrace) -> None:
    frame = whole.frames[1]
    with pytest.raises(FrozenInstanceError):
        frame.pc = 7  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        frame.color = "red"  # type: ignore[attr-defined]
    assert not hasattr(frame, "__dict__")
    assert replace(frame, pc=7).pc == 7
    for twin in (copy.copy(frame), copy.deepcopy(frame), pickle.loads(pickle.dumps(frame))):
        assert twin == frame
        assert hash(twin) == hash(frame)


def test_frames_that_called_main_are_left_out(smashed: Crash, whole: Backtrace) -> None:
    with whocall.open_core(str(smashed.core), str(smashed.exe)) as image:
        trace = image.backtrace(0)
    assert trace.stop.reason == "main"
    assert trace.frames[-1].function == "main"
    assert trace.frames == whole.frames[: len(trace.frames)]
    assert len(trace.frames) < len(whole.frames)


def test_a_main_that_is_inlined_does_not_end_its_own_frame(tmp_path: Path) -> None:
    """gdb shows the frame around it too."""
    source = """
#include <stdlib.h>
static inline __attribute__((always_inline)) int inner(void) { abort(); }
int main(void) { return inner(); }
"""
    crash = shared("inlined-in-main", source, "-O1 -g -w")
    with whocall.open_core(str(crash.core), str(crash.twin)) as image:
        functions = [(frame.function, frame.inlined) for frame in image.backtrace(0).frames]
    assert functions[-2:] == [("inner", True), ("main", False)]


STYLES = (Style(), AnsiStyle())
COUNTS = (None, 1, 3, 90, -2, -40)
FORMS = [
    TextForm(),
    TextForm(fold=False),
    TextForm(every_thread=True),
    TextForm(every_thread=True, inferior="2."),
]


@pytest.fixture(scope="module")
def reports(smashed: Crash) -> list[whocall.Report]:
    """What native code writes."""
    turns = shared("taking-turns", TURNS, "-O1 -g -w -fno-optimize-sibling-calls")
    crowd = shared("small-crowd", CROWD, "-O1 -w -pthread")
    exes = (
        (smashed, smashed.exe),
        (smashed, smashed.twin),
        (turns, turns.twin),
        (crowd, crowd.exe),
    )
    found = []
    for crash, exe in exes:
        for count in COUNTS:
            for past_main in (False, True):
                with whocall.open_core(str(crash.core), str(exe)) as image:
                    walk = whocall.Walk(past_main=past_main, count=count)
                    found.append(image.report(walk=walk, numbers={1: 17}))
    return found


def test_the_name_is_hard_to_write(deep: Backtrace) -> None:
    odd = 'a "b" \\ \b\f\n\r\t\x01\x7f \u00e4 '
    odd += "\udcff\udce2\udc82x\U0001f600\udced\udca0\udc80\udce2\udc82"
    assert any(frame.inlined and (frame.file or "").endswith(odd) for frame in deep.frames)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("style", [Style(), AnsiStyle(), AnsiStyle({"address": "1;33"})])
def test_some_backtraces_read_as_they_do_among_all(
    reports: list[whocall.Report], form: TextForm, style: Style
) -> None:
    for report in reports:
        whole = "".join(report_text(report, form, style))
        assert whole.count("\n") >= 1
        assert "".join(report_text(replace(report, threads=list(report.threads)), form, style)) == (
            whole
        )
        one = replace(report, threads=report.threads[-1:])
        last = "".join(report_text(one, replace(form, every_thread=False), style))
        assert last in "".join(report_text(report, replace(form, every_thread=False), style))


def test_a_part_of_a_chain_can_be_written(reports: list[whocall.Report]) -> None:
    whole = max(reports, key=lambda report: len(report.threads[0].frames))
    part = replace(whole.threads[0], frames=whole.threads[0].frames[2:5])
    lines = whocall.backtrace_text(replace(whole, threads=[part])).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("#")] == ["#2", "#3", "#4"]


def test_colours_change_nothing_but_colours(reports: list[whocall.Report]) -> None:
    for report in reports:
        plain, painted = ("".join(report_text(report, FORMS[2], style)) for style in STYLES)
        assert "\x1b[" in painted
        assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_native_json_is_the_json(reports: list[whocall.Report]) -> None:
    """As Python writes what it says, and as other documents tell frames."""
    for report in reports:
        written = "".join(backtrace_text(report, 1))
        document = json.loads(written)
        assert written == text(document)
        newer = "".join(backtrace_text(report))
        assert newer == text(json.loads(newer))
        for thread, trace in zip(document["threads"], report.threads):
            assert thread["frames"] == [frame_json(frame) for frame in trace.frames]
            assert thread["stop"]["reason"] == trace.stop.reason
            assert thread["number"] == trace.number
        assert len(document["threads"]) == len(report.threads)


def test_equal_stacks_are_told_together(reports: list[whocall.Report]) -> None:
    found = "".join(report_text(reports[-1], TextForm(every_thread=True), Style()))
    assert "[4 threads, same stack]:" in found
    assert len(reports[-1].threads) == 7


def test_native_json_comes_in_large_blocks() -> None:
    """Neither frame by frame nor as a whole."""
    turns = shared("taking-turns", TURNS, "-O1 -g -w -fno-optimize-sibling-calls")
    with whocall.open_core(str(turns.core), str(turns.twin)) as image:
        report = image.report(walk=whocall.Walk(past_main=True))
    sizes = [len(piece) for piece in backtrace_text(report) if len(piece) > 1000]
    assert len(sizes) > 2
    assert all(60_000 < size < 80_000 for size in sizes[:-1])


def _state(pid: int) -> str:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^State:\s+(\S)", text, re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_a_process_goes_on_when_it_is_closed_also_where_frames_are_kept(
    tmp_path: Path,
) -> None:
    source = "#include <unistd.h>\nint main(void) { for (;;) pause(); }"
    process = subprocess.Popen([compiled(tmp_path, "waiting", source)])
    try:
        while _state(process.pid) != "S":
            time.sleep(0.01)
        with whocall.open_process(process.pid) as image:
            assert _state(process.pid) == "t"
            trace = image.backtrace(0)
        assert isinstance(trace.frames, FrameSequence)
        end = time.monotonic() + 10
        while _state(process.pid) != "S" and time.monotonic() < end:
            time.sleep(0.01)
        assert _state(process.pid) == "S"
        assert trace.frames[-1].function is not None
    finally:
        process.kill()
        process.wait()

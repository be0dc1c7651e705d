"""A thousand threads and a hundred thousand frames come out complete, exactly, and in time.

Every frame is compared with what the unstripped twin's disassembly says; see shape_chains.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from guards import guarded
from stock import DeepCore, ManyThreadsCore, kept_deep_core, kept_many_threads_core
from stock.crowd import crowd

import whocall
from acceptance.stacks import shape_voices
from acceptance.stacks.shape_chains import Calls, check_chain, expected_of_deep, expected_of_many
from acceptance.stacks.shape_voices import Threads
from whocall import Backtrace
from whocall.base.model import TextForm
from whocall.report.backtrace.written import report_text
from whocall.report.form.style import Style

THREADS = 1000
DEPTH = 100_000
MORE_DEPTH = 800_000
TIMES = 16
"""As many threads, for what shows only in a crowd."""

VOICES: dict[str, Callable[[Path, Path], Threads]] = {
    "api": lambda core, _: shape_voices.by_api(core),
    "text": lambda core, _: shape_voices.by_command_line(core, as_json=False),
    "json": lambda core, _: shape_voices.by_command_line(core, as_json=True),
    "gdb-text": lambda core, exe: shape_voices.by_gdb(core, exe, as_json=False),
    "gdb-json": lambda core, exe: shape_voices.by_gdb(core, exe, as_json=True),
}


@pytest.fixture(scope="module")
def many() -> ManyThreadsCore:
    """A thousand threads and the main one."""
    return kept_many_threads_core(THREADS)


@pytest.fixture(scope="module")
def deep() -> DeepCore:
    """One thread a hundred thousand levels deep, and the main one."""
    return kept_deep_core(DEPTH)


@pytest.mark.parametrize("voice", VOICES)
def test_a_thousand_threads(many: ManyThreadsCore, voice: str) -> None:
    threads = VOICES[voice](many.core, many.build.stripped)
    own = expected_of_many(many, Calls(many.build.twin))
    assert len(own) == many.own_frames
    workers = [chain for chain in threads.values() if own[0] in chain]
    assert len(threads) == THREADS + 1
    assert len(workers) == THREADS
    for chain in workers:
        # pause, and since glibc 2.41 three functions that it waits in
        check_chain(chain, own, inside=range(1, 5))
    frames = sum(map(len, threads.values()))
    print(f"\n{voice}: {len(threads)} threads, {frames} frames", end="")


@pytest.mark.parametrize("voice", VOICES)
def test_a_hundred_thousand_frames(deep: DeepCore, voice: str) -> None:
    threads = VOICES[voice](deep.core, deep.build.stripped)
    own = expected_of_deep(deep, Calls(deep.build.twin))
    assert len(own) == DEPTH + 2
    assert len(threads) == 2
    crashed = max(threads.values(), key=len)
    check_chain(crashed, own, inside=range(2, 6))  # abort, and what it calls
    print(f"\n{voice}: {len(crashed)} frames", end="")


def test_a_missing_frame_is_noticed(deep: DeepCore) -> None:
    """The comparison can fail, however deep the frame is that is lost, doubled or moved."""
    found = max(shape_voices.by_api(deep.core).values(), key=len)
    own = expected_of_deep(deep, Calls(deep.build.twin))
    middle = DEPTH // 2
    for wrong in (
        found[:middle] + found[middle + 2 :],
        found[:middle] + found[middle - 2 :],
        [*found[:middle], found[middle + 1], *found[middle + 1 :]],
    ):
        with pytest.raises(AssertionError):
            check_chain(wrong, own, inside=range(2, 6))


def test_few_frames_of_many(deep: DeepCore) -> None:
    """COUNT and -COUNT take from the two ends of the same walk."""
    whole = max(shape_voices.by_api(deep.core).values(), key=len)
    with whocall.open_core(str(deep.core)) as image:
        crashed = image.index_of_crash()
        inner = image.backtrace(crashed, whocall.Walk(count=7)).frames
        outer = image.backtrace(crashed, whocall.Walk(count=-7)).frames
    assert [frame.rva for frame in inner] == [place.rva for place in whole[:7]]
    assert [frame.rva for frame in outer] == [place.rva for place in whole[-7:]]
    assert outer[-1].level == len(whole) - 1


def _whole_report(core: Path) -> list[Backtrace]:
    """Of all threads, written out as well, before the guard."""
    with guarded(), whocall.open_core(str(core)) as image:
        report = image.report(walk=whocall.Walk(max_frames=MORE_DEPTH * 2))
        form = TextForm(every_thread=True)
        lines = len("".join(report_text(report, form, Style())).splitlines())
    assert lines > 10
    return list(report.threads)


def test_depth_costs_linear_time() -> None:
    """Takes some four seconds; what grows with the square would take minutes even where it is a
    tenth of a nanosecond for each pair of frames.
    """
    crashed = max(_whole_report(kept_deep_core(MORE_DEPTH).core), key=lambda it: len(it.frames))
    assert len(crashed.frames) > MORE_DEPTH


def test_threads_cost_linear_time(many: ManyThreadsCore, tmp_path: Path) -> None:
    """Takes some seconds; half a microsecond for each pair of threads would be over the limit."""
    traces = _whole_report(crowd(many.core, TIMES, tmp_path / "crowd.core"))
    assert len(traces) == TIMES * (THREADS + 1)
    assert sum(len(trace.frames) > many.own_frames for trace in traces) == TIMES * THREADS

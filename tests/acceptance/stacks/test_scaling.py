"""A thousand threads and a hundred thousand frames come out complete, exactly, and in linear time.

Every frame is compared with what the unstripped twin's disassembly says; see shape_chains.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from stock import DeepCore, ManyThreadsCore, deep_core, many_threads_core

import whocall
from acceptance.stacks import shape_voices
from acceptance.stacks.shape_chains import Calls, check_chain, expected_of_deep, expected_of_many
from acceptance.stacks.shape_voices import Threads
from whocall.report.backtrace.render import TextForm, report_lines
from whocall.report.form.style import Style

THREADS = 1000
DEPTH = 100_000

VOICES: dict[str, Callable[[Path, Path], Threads]] = {
    "api": lambda core, _: shape_voices.by_api(core),
    "text": lambda core, _: shape_voices.by_command_line(core, as_json=False),
    "json": lambda core, _: shape_voices.by_command_line(core, as_json=True),
    "gdb-text": lambda core, exe: shape_voices.by_gdb(core, exe, as_json=False),
    "gdb-json": lambda core, exe: shape_voices.by_gdb(core, exe, as_json=True),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> ManyThreadsCore:
    """A thousand threads and the main one."""
    return many_threads_core(tmp_path_factory.mktemp("many"), THREADS)


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> DeepCore:
    """One thread a hundred thousand levels deep, and the main one."""
    return deep_core(tmp_path_factory.mktemp("deep"), DEPTH)


@pytest.mark.parametrize("voice", VOICES)
def test_a_thousand_threads(many: ManyThreadsCore, voice: str) -> None:
    threads = VOICES[voice](many.core, many.build.stripped)
    own = expected_of_many(many, Calls(many.build.twin))
    assert len(own) == many.own_frames
    workers = [chain for chain in threads.values() if own[0] in chain]
    assert len(threads) == THREADS + 1
    assert len(workers) == THREADS
    for chain in workers:
        check_chain(chain, own, inside=range(1, 2))  # pause
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


def _cpu_seconds(core: Path) -> float:
    """CPU time that this process spends on the whole report and its text, the best of five."""
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        with whocall.open_core(str(core)) as image:
            report = image.report()
            form = TextForm(every_thread=True, pointer_size=8, read=image.read)
            lines = len(list(report_lines(report, form, Style())))
        assert lines > 10
        best = min(best, time.process_time() - started)
    return best


def _check_growth(of_one: Path, of_eight: Path) -> None:
    """Eight times the work may take fourteen times as long, and would take 64 if all of it grew
    with the square; so a part that does is noticed before it is a tenth of the smaller time.

    A timing, because nothing in the program counts its steps; but CPU time of this process alone,
    the best of five, over sizes far above the start-up's share. Other work on the machine slows
    both sizes.
    """
    one, eight = _cpu_seconds(of_one), _cpu_seconds(of_eight)
    print(f"\n{one:.3f} s, {eight:.3f} s: {eight / one:.1f} times", end="")
    assert eight <= 14 * one


def test_depth_costs_linear_time(deep: DeepCore, tmp_path: Path) -> None:
    _check_growth(deep_core(tmp_path, DEPTH // 8).core, deep.core)


def test_threads_cost_linear_time(tmp_path: Path) -> None:
    sizes = (THREADS // 4, THREADS * 2)
    one, eight = (many_threads_core(tmp_path / str(count), count).core for count in sizes)
    _check_growth(one, eight)

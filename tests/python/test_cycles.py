"""Runs of repeating frames, left out of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as some
from literals import frame, report, trace

from whocall.core.model import Frame
from whocall.report.backtrace.cycles import Gap, gap_line, gaps
from whocall.report.backtrace.render import TextForm, report_text
from whocall.report.form.style import Style

FEWEST_FRAMES = 24
LONGEST_CYCLE = 16


def chain(names: Sequence[str]) -> list[Frame]:
    return [frame(at, 0x401000 + 16 * at, name) for at, name in enumerate(names)]


def found(names: Sequence[str]) -> list[Gap]:
    return list(gaps(chain(names)))


def text(names: Sequence[str], **form: bool) -> list[str]:
    whole = report(trace(chain(names)))
    return "".join(report_text(whole, TextForm(**form), Style())).splitlines()


def test_an_endless_recursion_shows_a_cycle_and_its_last_frames() -> None:
    lines = text(["memset", *islice(cycle("ab"), 101), "main", "_start"])
    assert [re.sub(r"0x\w+ in (\w+).*", r"\1", line) for line in lines] == [
        "#0  memset",
        "#1  a",
        "#2  b",
        "... 98 frames: the 2 frames above repeated 49 times ...",
        "#101 a",
        "#102 main",
        "#103 _start",
    ]


def test_without_folding_every_frame_has_its_line() -> None:
    names = ["memset", *["f"] * 5000, "main"]
    lines = text(names, fold=False)
    assert [int(re.match(r"#(\d+)", line)[1]) for line in lines] == list(range(len(names)))


def test_short_recursions_stay_as_they_are() -> None:
    assert found("a" * (FEWEST_FRAMES - 1)) == []
    assert found("a" * FEWEST_FRAMES) == [Gap(1, FEWEST_FRAMES - 1, 1)]
    names = [str(at) for at in range(LONGEST_CYCLE)]
    assert found(names * 3) == [Gap(LONGEST_CYCLE, 2 * LONGEST_CYCLE, LONGEST_CYCLE)]
    assert found((names * 3)[:-1]) == []


def test_a_cycle_that_is_too_long_is_none() -> None:
    assert found([str(at) for at in range(LONGEST_CYCLE + 1)] * 9) == []


def test_the_shortest_cycle_counts() -> None:
    assert [gap.period for gap in found("aab" * 20)] == [3]
    assert [gap.period for gap in found("ab" * 40)] == [2]


def test_one_run_behind_another() -> None:
    assert [gap.period for gap in found("a" * 30 + "bc" * 30 + "m")] == [1, 2]


def test_a_frame_that_is_less_sure_ends_a_run() -> None:
    frames = chain("a" * 60)
    frames[30] = replace(frames[30], trust="scan")
    assert [(gap.begin, gap.end) for gap in gaps(frames)] == [(1, 29), (32, 59)]


def test_functions_count_and_not_where_they_call() -> None:
    assert len({frame.pc for frame in chain("a" * 60)}) == 60
    nameless = [replace(frame, function=None) for frame in chain("a" * 60)]
    assert list(gaps(nameless)) == []
    assert len(list(gaps([replace(frame, pc=5) for frame in nameless]))) == 1


@pytest.mark.parametrize(
    ("gap", "line"),
    [
        (Gap(2, 261_986, 2), "... 261,984 frames: the 2 frames above repeated 130,992 times ..."),
        (Gap(1, 23, 1), "... 22 frames: the frame above repeated 22 times ..."),
        (Gap(16, 32, 16), "... 16 frames: the 16 frames above repeated once ..."),
    ],
)
def test_what_a_gap_says(gap: Gap, line: str) -> None:
    assert gap_line(gap) == line


@given(
    some.lists(
        some.tuples(some.text("abc", min_size=1, max_size=4), some.integers(1, 40)), max_size=4
    )
)
def test_the_frames_of_a_gap_are_those_above_it(parts: list[tuple[str, int]]) -> None:
    names = "".join(word * times for word, times in parts)
    end = 0
    for gap in found(names):
        assert gap.begin - gap.period >= end
        assert gap.times * gap.period == gap.end - gap.begin > 0
        above = names[gap.begin - gap.period : gap.begin]
        assert names[gap.begin : gap.end] == above * gap.times
        assert gap.end < len(names)
        assert names[gap.end] == above[0]
        end = gap.end


def test_full_goes_on_at_the_right_place_behind_a_gap() -> None:
    lines = text([*["f"] * 100, "main"], full=True)
    assert lines[-1].strip() == "sp 0x7ffe0640, CFA 0x7ffe0650"
    assert sum(line.startswith("#") for line in lines) == 3


def test_frames_found_by_a_search_keep_their_line_behind_a_gap() -> None:
    frames = [*chain("a" * 60), replace(frame(60, 7, "main"), trust="scan")]
    lines = "".join(report_text(report(trace(frames)), TextForm(), Style())).splitlines()
    assert lines[-2] == "(no rule leads on from #59: whocall searched 16 bytes of stack)"


def test_the_trust_words_of_a_long_chain_never_move_to_the_left() -> None:
    names = [f"f{'x' * (at % 40)}" for at in range(3000)]
    columns = [line.rindex("[") for line in text(names, fold=False)]
    assert columns == sorted(columns)

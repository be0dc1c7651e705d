"""Identical stacks folded into one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from literals import frame, frames, report, trace

from whocall.core.model import Backtrace, Stop
from whocall.report.backtrace.fold import fold, numbers
from whocall.report.backtrace.render import TextForm, report_text
from whocall.report.form.jsonform import backtrace_json
from whocall.report.form.style import Style


def waiting(number: int, cfa: int = 0) -> Backtrace:
    """A worker thread; each has a stack of its own, so no two have the same CFAs."""
    chain = [replace(one, cfa=cfa + number * 0x1000) for one in frames()[1:3]]
    return trace(chain, number=number, lwp=4240 + number, crashed=False, signal=None)


def test_same_code_on_different_stacks_is_one_group() -> None:
    groups = fold([waiting(1), waiting(2), waiting(3)])
    assert [[t.number for t in group.traces] for group in groups] == [[1, 2, 3]]


def test_groups_keep_the_order_of_their_first_threads() -> None:
    other = trace([frame(0, 5, "f")], number=2, crashed=False)
    groups = fold([waiting(1), other, waiting(3)])
    assert [[t.number for t in group.traces] for group in groups] == [[1, 3], [2]]


def test_the_crashed_thread_stands_alone() -> None:
    crashed = replace(waiting(1), crashed=True)
    assert len(fold([crashed, waiting(2)])) == 2


def test_different_ends_are_different_stacks() -> None:
    broken = replace(waiting(2), stop=Stop("unreadable"))
    assert len(fold([waiting(1), broken])) == 2


def test_full_folds_nothing() -> None:
    assert len(fold([waiting(1), waiting(2)], exact=True)) == 2


@pytest.mark.parametrize(
    ("values", "text"),
    [([1], "1"), ([1, 2], "1, 2"), ([1, 2, 3], "1..3"), ([1, 2, 3, 7], "1..3, 7"), ([], "")],
)
def test_numbers(values: list[int], text: str) -> None:
    assert numbers(values) == text


def test_the_title_counts_and_json_does_not_fold() -> None:
    workers = [waiting(number) for number in (1, 2, 3, 7)]
    whole = report(*workers)
    lines = "".join(report_text(whole, TextForm(every_thread=True), Style())).splitlines()
    assert lines[0] == "Threads 1..3, 7 (LWP 4241..4243, 4247) [4 threads, same stack]:"
    assert len(lines) == 3
    assert len(backtrace_json(whole)["threads"]) == 4

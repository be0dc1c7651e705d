"""What a debugger is told of a chain, and what of one that is too long."""

from __future__ import annotations

from dataclasses import replace

import pytest
from literals import frame, trace

from whocall.base.model import Frame, Stop
from whocall.repair import chain as repair_chain
from whocall.repair.chain import chain_of
from whocall.repair.outcomes import Agreement, ThreadOutcome, is_notable, thread_lines


@pytest.fixture(autouse=True)
def short_chains_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair_chain, "INNERMOST", 4)
    monkeypatch.setattr(repair_chain, "OUTERMOST", 2)


def _line(outcome: ThreadOutcome) -> str:
    (line,) = thread_lines([outcome])
    return line


def test_of_threads_that_did_alike_one_line_tells() -> None:
    alike = [
        ThreadOutcome(number, 6, Agreement(2, 1), Agreement(6, 0), 0, None)
        for number in (7, 2, 3, 4)
    ]
    other = ThreadOutcome(5, 6, Agreement(3, 0), Agreement(6, 0), 1, None)
    assert thread_lines([*alike, other]) == [
        "Threads 2-4, 7: gdb had 2 of 6 frames and 1 false; now it has all 6 frames.",
        "Thread 5: gdb had 3 of 6 frames; now it has all 6 frames, 1 frame one by one.",
    ]


def frames(count: int) -> list[Frame]:
    found = [frame(at, 0x1000 + at % 3, "f", registers={"rip": at}) for at in range(count)]
    return [*found, frame(count, 0x9000, "in", inlined=True), frame(count + 1, 0x9000, "out")]


def test_a_chain_is_whole_where_it_is_not_too_long() -> None:
    chain = chain_of(trace(frames(5)))
    assert [step.pc for step in chain.steps] == [0x1000, 0x1001, 0x1002, 0x1000, 0x1001, 0x9000]
    assert (chain.more, chain.last, chain.unruled) == (0, (), 0)
    assert chain.end == 0x8FFF
    assert chain.lookups == {0xFFF, 0x1000, 0x1001, 0x8FFF}
    assert [step.caller for step in chain.steps] == [{"rip": at} for at in (1, 2, 3, 4)] + [
        None,
        None,
    ]


def test_of_a_long_one_the_inner_and_outer_frames_are_known_and_where_all_stand() -> None:
    found = frames(12)
    found[7] = replace(found[7], pc=0x7000)
    found[8] = replace(found[8], trust="frame-pointer")
    chain = chain_of(trace(found))
    assert [step.sp for step in chain.steps] == [0] * 4
    assert [step.caller for step in chain.steps] == [{"rip": at} for at in (1, 2, 3, 4)]
    assert (len(chain.steps), chain.more, len(chain.last)) == (4, 9, 2)
    assert [step.pc for step in chain.last] == [0x1002, 0x9000]
    assert chain.unruled == 1
    assert chain.end == 0x8FFF
    assert chain.lookups == {0xFFF, 0x1000, 0x1001, 0x6FFF, 0x8FFF}


def test_a_chain_that_was_cut_short_has_no_end() -> None:
    assert chain_of(trace(frames(12), stop=Stop("frame-limit"))).end is None
    assert chain_of(trace([])).end is None


def test_what_was_not_looked_at_is_told() -> None:
    outcome = ThreadOutcome(1, 4096, Agreement(3, 0), Agreement(4096, 0), 0, None, 257_904)
    assert _line(outcome) == (
        "Thread 1: gdb had 3 of the innermost 4,096 frames; now it has all the innermost 4,096"
        " frames. The 257,904 frames further out were not looked at."
    )
    outcome.before = outcome.after
    assert is_notable(outcome)
    assert _line(outcome).startswith(
        "Thread 1: gdb has all the innermost 4,096 frames. The 257,904 frames"
    )
    outcome.unruled = 1200
    assert _line(outcome).endswith("not looked at, and no rule leads to 1,200 of them.")

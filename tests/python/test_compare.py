"""Verdicts on gdb's frames."""

from __future__ import annotations

import pytest
from literals import LIBC, PROG, frame, frames, trace

from whocall import compare as module
from whocall.compare import (
    BEYOND,
    FALSE,
    INLINED,
    MISSING,
    NAMED,
    RENAMED,
    SAME,
    GdbFrame,
    GdbStack,
    compare,
    count,
    first_divergence,
    plain_name,
    summary,
)
from whocall.divergence import explain
from whocall.model import Backtrace, Stop


def stack(*frames_: tuple[int, str | None], stop: str = "") -> GdbStack:
    return GdbStack([GdbFrame(at, pc, name) for at, (pc, name) in enumerate(frames_)], stop)


def verdicts(ours: Backtrace, gdbs: GdbStack) -> list[str]:
    return [row.verdict for row in compare(ours, gdbs)]


RIGHT = [(f.pc, f.function) for f in frames()]


def test_agreement() -> None:
    rows = compare(trace(), stack(*RIGHT))
    assert {row.verdict for row in rows} == {SAME}
    assert first_divergence(rows) is None
    assert explain(rows) is None
    assert summary(count(rows)) == "gdb: 6 of 6 frames right, 0 without a name, 0 missing, 0 false"


def test_without_names_gdb_is_right_where_we_have_none_either() -> None:
    gdbs = stack(*[(pc, None) for pc, _ in RIGHT])
    assert verdicts(trace(), gdbs) == [SAME, SAME, NAMED, NAMED, NAMED, NAMED]


def test_gdb_is_not_wrong_where_only_gdb_has_a_name() -> None:
    assert verdicts(trace(frames()[:1]), stack((0x401139, "crash"))) == [SAME]


def test_another_name() -> None:
    gdbs = stack(*[(pc, "wrong" if name == "qsort" else name) for pc, name in RIGHT])
    assert verdicts(trace(), gdbs)[2] == RENAMED


def test_missing_and_false_frames_between_common_ones() -> None:
    gdbs = stack(RIGHT[0], RIGHT[1], (1, None), (0x7FFE, None), RIGHT[4], RIGHT[5])
    rows = compare(trace(), gdbs)
    assert [row.verdict for row in rows] == [
        SAME, SAME, MISSING, MISSING, FALSE, FALSE, SAME, SAME,
    ]  # fmt: skip
    assert first_divergence(rows) == 2
    assert summary(count(rows)) == "gdb: 4 of 6 frames right, 0 without a name, 2 missing, 2 false"


def test_where_whocall_gave_up_nobody_knows() -> None:
    gave_up = trace(frames()[:2], stop=Stop("no-caller"))
    rows = compare(gave_up, stack(*RIGHT[:3]))
    assert [row.verdict for row in rows] == [SAME, SAME, BEYOND]
    assert "whocall found no caller" in (explain(rows) or "")
    assert "1 after whocall gave up" in summary(count(rows))


def test_frames_past_the_end_of_the_stack_are_false() -> None:
    assert verdicts(trace(), stack(*RIGHT, (0, None)))[-1] == FALSE


def test_signal_trampolines_agree_whatever_their_names() -> None:
    ours = trace([frame(0, 7, "__restore_rt", signal_trampoline=True)])
    gdbs = GdbStack([GdbFrame(0, 7, None, signal_trampoline=True)])
    assert verdicts(ours, gdbs) == [SAME]


def test_inlined_calls_pair_only_with_inlined_calls_and_count_for_neither() -> None:
    ours = trace([frame(0, 7, "inner", inlined=True), frame(1, 7, "outer")])
    rows = compare(ours, stack((7, "outer")))
    assert [row.verdict for row in rows] == [INLINED, SAME]
    assert count(rows).frames == 1
    assert first_divergence(rows) is None


def test_aliases_may_be_known_to_the_caller() -> None:
    gdbs = stack((0x7F0000001BF4, "__GI_qsort"))
    ours = trace([frames()[2]])
    assert compare(ours, gdbs)[0].verdict == RENAMED
    assert compare(ours, gdbs, lambda frame, name: True)[0].verdict == SAME


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("main", "main"),
        ("ns::f(int, char const*)", "ns::f"),
        ("ns::f(int) const", "ns::f"),
        ("f(void (*)(int))", "f"),
        ("S::operator()(int) const", "S::operator()(int) const"),
        ("f [cold]", "f"),
        ("f [clone .cold]", "f"),
        ("f.constprop.0", "f"),
        ("(anonymous namespace)::f()", "(anonymous namespace)::f"),
    ],
)
def test_names_without_what_the_two_write_differently(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def explained(gdbs: GdbStack, ours: Backtrace | None = None, **more) -> str:
    return explain(compare(ours or trace(), gdbs), gdbs.stop, **more) or ""


def test_why_the_word_at_the_stack_pointer() -> None:
    chain = [frames()[0], frames()[1]]
    said = explained(stack((0x401139, None), (1, None)), trace(chain), word_at_sp=1)
    assert "no unwind table covers it, and gdb knows no function start there" in said
    assert "took the word at the stack pointer, 0x1, for the return address" in said
    assert said.endswith("In truth the caller is sub_1143 (0x401149), analysis.")


def test_why_a_guess_from_the_prologue() -> None:
    said = explained(stack((0x401139, "crash"), (1, None)), trace(frames()[:2]))
    assert "guessed the frame's layout from the first instructions of crash" in said


def test_why_it_stopped() -> None:
    said = explained(stack((0x401139, None), stop="previous frame inner to this frame"))
    assert "it stopped (previous frame inner to this frame)" in said


def test_why_a_null_call() -> None:
    chain = [frame(0, 0, None, "context", module=None), frames()[3]]
    assert "0x0 lies in no module" in explained(stack((0, None)), trace(chain))


@pytest.mark.parametrize(
    ("state", "part"), [("missing", "is missing"), ("MISMATCH", "another build")]
)
def test_why_a_file(state: str, part: str) -> None:
    said = explained(stack((0x401139, None)), states={PROG: state, LIBC: "found"})
    assert part in said


def test_why_when_a_frame_is_left_out() -> None:
    said = explained(stack(RIGHT[0], RIGHT[2], *RIGHT[3:]))
    assert "left out frames and went on at 0x7f0000001bf4" in said


def test_why_not_even_the_first() -> None:
    assert "innermost frame" in explained(stack((1, None)))


def test_verdicts_are_listed() -> None:
    assert set(module.VERDICTS) == {SAME, NAMED, RENAMED, MISSING, FALSE, INLINED, BEYOND}

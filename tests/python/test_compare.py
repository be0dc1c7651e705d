"""Verdicts on gdb's frames."""

from __future__ import annotations

from dataclasses import replace

import pytest
from literals import LIBC, PROG, frame, frames, trace

from whocall.base.model import Backtrace, Stop
from whocall.commands import shell
from whocall.report.comparison.divergence import explain
from whocall.report.comparison.verdicts import (
    BEYOND,
    FALSE,
    MISSING,
    NAMED,
    OFF_STACK,
    RENAMED,
    SAME,
    UNNAMED,
    UNPROVEN,
    VERDICTS,
    GdbFrame,
    GdbStack,
    compare,
    count,
    first_divergence,
    is_sure,
    plain_name,
    summary,
)


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
    assert summary(rows, count(rows)) == "gdb has 6 of whocall's 6 frames (6 same) and no others."


def test_without_names_nobody_is_praised_where_we_have_none_either() -> None:
    gdbs = stack(*[(pc, None) for pc, _ in RIGHT])
    assert verdicts(trace(), gdbs) == [UNNAMED, UNNAMED, NAMED, NAMED, NAMED, NAMED]


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
    said = "gdb has 4 of whocall's 6 frames (4 same) and 2 more: 2 false."
    assert summary(rows, count(rows)) == said


def in_a_gap(trust: str) -> Backtrace:
    """Two frames, of which the second was found in another way than by rules."""
    return trace([frames()[0], frame(1, 0x401149, "main", trust)])


GAP = [(0x401139, None), (0x401160, None), (0x41414141, None), (0x401149, "main")]


@pytest.mark.parametrize("trust", ["scan", "frame-pointer"])
def test_in_a_gap_of_whocalls_chain_gdb_is_not_called_wrong(trust: str) -> None:
    rows = compare(in_a_gap(trust), stack(*GAP))
    assert [row.verdict for row in rows] == [UNNAMED, UNPROVEN, UNPROVEN, SAME]
    found = count(rows)
    assert (found.frames, found.false, found.unproven) == (2, 0, 2)
    said = "gdb has 2 of whocall's 2 frames (1 same, 1 unnamed) and 2 more: 2 unproven."
    assert summary(rows, found) == said
    explanation = explain(rows) or ""
    assert f"whocall went on at main (0x401149), {trust}" in explanation
    assert "wrong" not in explanation


def test_in_a_gap_a_frame_where_no_code_lies_is_false() -> None:
    rows = compare(in_a_gap("scan"), stack(*GAP), is_code=lambda pc: pc < 0x500000)
    assert [row.verdict for row in rows] == [UNNAMED, UNPROVEN, FALSE, SAME]


def test_what_a_signal_interrupted_may_have_been_anywhere() -> None:
    gdbs = GdbStack([GdbFrame(0, 0x401139), GdbFrame(1, 9, signal_trampoline=True), GdbFrame(2, 0)])
    rows = compare(in_a_gap("scan"), gdbs, is_code=bool)
    assert [row.verdict for row in rows] == [UNNAMED, MISSING, UNPROVEN, UNPROVEN]


@pytest.mark.parametrize(
    ("trust", "more", "sure"),
    [
        ("cfi", {}, True),
        ("analysis", {}, True),
        ("cfi", {"evidence": ("cfa-up",)}, False),
        ("cfi", {"evidence": (), "signal_trampoline": True}, True),
        ("context", {"evidence": (), "interrupted": True}, True),
        ("frame-pointer", {}, False),
        ("scan", {"evidence": ("call-target",)}, False),
    ],
)
def test_what_leaves_no_room_for_another_frame(trust: str, more: dict, sure: bool) -> None:
    assert is_sure(frame(1, 5, "f", trust, **more)) == sure


@pytest.mark.parametrize("trust", ["cfi", "scan"])
def test_the_counts_add_up(trust: str) -> None:
    ours = trace([frames()[0], frame(1, 0x401149, None, trust), *frames()[2:]])
    gdbs = stack(*GAP[:2], (0x401149, "f"), (7, None), (RIGHT[3][0], None), (RIGHT[4][0], "g"))
    rows = compare(ours, gdbs)
    found = count(rows)
    names = found.same + found.unnamed + found.named + found.renamed
    assert names + found.missing == found.frames == len(ours.frames)
    assert names + found.false + found.unproven + found.beyond == len(gdbs.frames)


def test_what_rests_on_a_search_is_counted_apart() -> None:
    chain = [replace(f, rests_on=1) if f.level > 1 else f for f in frames()]
    chain[1] = replace(chain[1], trust="scan")
    inlined = replace(chain[4], level=4, function="in", inlined=True)
    rows = compare(trace([*chain[:4], inlined, *chain[4:]]), stack(*RIGHT))
    found = count(rows)
    assert (found.frames, found.same, found.resting) == (6, 6, 4)
    assert summary(rows, found) == (
        "gdb has 6 of whocall's 6 frames (6 same) and no others."
        " 4 of whocall's 6 rest on a search of the stack."
    )


def test_where_whocall_gave_up_nobody_knows() -> None:
    gave_up = trace(frames()[:2], stop=Stop("no-caller"))
    rows = compare(gave_up, stack(*RIGHT[:3]))
    assert [row.verdict for row in rows] == [SAME, SAME, BEYOND]
    assert "whocall found no caller" in (explain(rows, gave_up=True) or "")
    assert summary(rows, count(rows)).endswith(" and 1 more: 1 beyond whocall.")


def test_where_whocall_gave_up_a_frame_without_code_is_false_all_the_same() -> None:
    gave_up = trace(frames()[:2], stop=Stop("no-caller"))
    rows = compare(gave_up, stack(*RIGHT[:2], (0x4141, None)), is_code=lambda pc: False)
    assert rows[-1].verdict == FALSE
    assert "whocall found no caller" in (explain(rows, gave_up=True) or "")
    assert "there is no caller" in (explain(rows) or "")


def test_frames_past_the_end_of_the_stack_are_false() -> None:
    assert verdicts(trace(), stack(*RIGHT, (0, None)))[-1] == FALSE


def test_signal_trampolines_agree_whatever_their_names() -> None:
    ours = trace([frame(0, 7, "__restore_rt", signal_trampoline=True)])
    gdbs = GdbStack([GdbFrame(0, 7, None, signal_trampoline=True)])
    assert verdicts(ours, gdbs) == [SAME]


def test_inlined_calls_pair_only_with_inlined_calls_and_count_for_neither() -> None:
    ours = trace([frame(0, 7, "inner", inlined=True), frame(1, 7, "outer")])
    rows = compare(ours, stack((7, "outer")))
    assert [row.verdict for row in rows] == [OFF_STACK, SAME]
    assert count(rows).frames == 1
    assert first_divergence(rows) is None


def test_a_tail_call_out_of_debug_info_is_no_frame() -> None:
    gdbs = GdbStack(
        [GdbFrame(0, 0x401139), GdbFrame(1, 0x401200, "f", inlined=True), GdbFrame(2, 0x401149)]
    )
    rows = compare(trace(frames()[:2]), gdbs)
    assert [row.verdict for row in rows] == [UNNAMED, OFF_STACK, UNNAMED]
    assert summary(rows, count(rows)).endswith("(2 unnamed) and 1 more: 1 not on stack.")
    assert explain(rows) is None


def test_one_start_is_one_function_whatever_its_names() -> None:
    ours = trace([frames()[2]])
    for start, verdict in ((0x7F0000001BEA, SAME), (0x7F0000001BE0, RENAMED), (None, RENAMED)):
        gdbs = GdbStack([GdbFrame(0, 0x7F0000001BF4, "__GI_qsort", start=start)])
        assert compare(ours, gdbs)[0].verdict == verdict


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
    assert "no unwind table leads on from it, and gdb knows no function start there" in said
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


def test_verdicts_are_listed_and_explained() -> None:
    assert len(set(VERDICTS)) == len(VERDICTS) == 9
    command = shell("compare")
    assert command is not None
    told = "\n".join(command.epilog)
    assert [verdict for verdict in VERDICTS if f"  {verdict}" not in told] == []

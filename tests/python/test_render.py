"""Backtraces as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from literals import LIBC, frame, frames, report, trace

from whocall.core.model import Stop
from whocall.report.backtrace.render import TextForm, report_text
from whocall.report.form.style import AnsiStyle, Style

PLAIN = Style()


def text(*traces, style: Style = PLAIN, **form) -> list[str]:
    return "".join(report_text(report(*traces), TextForm(**form), style)).splitlines()


def test_the_form_is_gdbs_with_the_trust_behind() -> None:
    assert text() == [
        "#0  0x0000000000401139 in sub_1139 (+10) from /opt/prog                [context]",
        "#1  0x0000000000401149 in sub_1143 (+10) from /opt/prog                [analysis]",
        "#2  0x00007f0000001bf4 in qsort (+10) from /lib/libc.so.6              [cfi]",
        "#3  0x0000000000401186 in main (+10) at t.c:9                          [cfi]",
        "#4  0x00007f000000024a in __libc_start_main (+10) from /lib/libc.so.6  [cfi]",
        "#5  0x0000000000401071 in _start (+10) from /opt/prog                  [cfi]",
    ]


def test_trust_words_stand_in_one_column() -> None:
    columns = {line.rindex("[") for line in text()}
    assert len(columns) == 1


def test_long_lines_are_whole_and_do_not_push_the_others() -> None:
    name = "ns::" * 60 + "f(int)"
    lines = text(trace([frame(0, 0x401139, name), frame(1, 0x401149, "main")]))
    assert name in lines[0]
    assert lines[0].endswith("  [cfi]")
    assert len(lines[1]) < 80


def test_addresses_are_as_wide_as_pointers() -> None:
    assert text(pointer_size=4)[0].startswith("#0  0x00401139 in ")


def test_unknown_function_and_no_module() -> None:
    lines = text(trace([frame(0, 0, None, "context", module=None, rva=None)]))
    assert lines == ["#0  0x0000000000000000 in ?? ()  [context]"]


def test_signal_trampolines_as_gdb_shows_them() -> None:
    lines = text(trace([frame(0, 5, None, signal_trampoline=True)]))
    assert lines == ["#0  <signal handler called>  [cfi]"]


def test_inlined_calls_have_no_address() -> None:
    lines = text(trace([frame(0, 5, "f", inlined=True, file="t.c", line=4)]))
    assert lines == ["#0  f () at t.c:4  [cfi, inlined]"]


def test_a_clean_end_says_nothing_and_any_other_says_why() -> None:
    assert not text()[-1].startswith("(")
    stopped = trace(stop=Stop("no-caller", "no acceptable caller of 0x0"))
    assert text(stopped)[-1] == "(whocall stopped: no acceptable caller of 0x0)"
    assert text(trace(stop=Stop("unreadable")))[-1].startswith("(whocall stopped: the stack cannot")


def test_count_keeps_the_innermost_and_says_that_more_follow() -> None:
    lines = text(trace().take(2))
    assert [line[:2] for line in lines] == ["#0", "#1", "(M"]
    assert lines[-1] == "(More stack frames follow...)"


def test_negative_count_keeps_the_outermost_under_their_numbers() -> None:
    assert [line[:2] for line in text(trace().take(-2))] == ["#4", "#5"]


def test_a_count_of_all_frames_or_more_changes_nothing() -> None:
    assert text(trace().take(6)) == text(trace().take(100)) == text()


def test_main_of_the_program_ends_the_backtrace_and_main_of_a_library_does_not() -> None:
    assert [f.function for f in trace().cut_at_main({"/opt/prog"}).frames][-1] == "main"
    assert trace().cut_at_main({"/opt/prog"}).stop.reason == "main"
    assert trace().cut_at_main({LIBC}) == trace()


def test_inlined_main_does_not_cut_off_its_own_body() -> None:
    chain = [frame(0, 5, "main", inlined=True), frame(1, 5, "main"), frame(2, 9, "_start")]
    assert len(trace(chain).cut_at_main({"/opt/prog"}).frames) == 2


@pytest.mark.parametrize(
    "raw", ["the registers say so", "The registers say so.", "the registers say so.."]
)
def test_explanations_are_sentences_under_their_frames(raw: str) -> None:
    chain = [replace(frames()[0], explanation=raw)]
    assert text(trace(chain), explain=True)[1] == "    The registers say so."
    assert len(text(trace(chain))) == 1


@pytest.mark.parametrize(
    ("stop", "last"),
    [
        (Stop("end-of-stack", "nothing called it"), "    The stack ends here: nothing called it."),
        (Stop("main"), "    The frames that called main are left out."),
        (Stop("no-caller", "x"), "(whocall stopped: x)"),
    ],
)
def test_explained_is_also_the_end(stop: Stop, last: str) -> None:
    assert text(trace(stop=stop), explain=True)[-1] == last


@pytest.mark.parametrize(
    ("level", "begins"), [(7, "#7  0x"), (42, "#42 0x"), (100, "#100 0x"), (100_000, "#100000 0x")]
)
def test_the_level_is_never_glued_to_the_address(level: int, begins: str) -> None:
    assert text(trace([frame(level, 5, "f")]))[0].startswith(begins)


def test_full_shows_cfa_registers_and_the_words_of_each_frame() -> None:
    chain = [replace(frames()[0], registers={"rbx": 1}), frames()[1]]
    memory = bytes(range(256))
    lines = text(
        trace(chain), full=True, read=lambda address, size: memory[address & 0xFF :][:size]
    )
    assert [line.strip() for line in lines[1:4]] == [
        "sp 0x7ffe0000, CFA 0x7ffe0010",
        "rbx    0x0000000000000001",
        "0x7ffe0000: 0x0706050403020100 0x0f0e0d0c0b0a0908",
    ]
    assert lines[5].strip() == "sp 0x7ffe0010, CFA 0x7ffe0020"


def test_full_tells_how_many_words_it_leaves_out_or_cannot_read() -> None:
    chain = [frame(0, 5, "f", cfa=0x7FFE0000 + 8 * 1000)]
    lines = text(trace(chain), full=True, read=lambda address, size: b"\0" * 64)
    assert "        (24 words cannot be read)" in lines
    assert "        (968 more words up to the CFA left out)" in lines


def test_full_on_another_stack() -> None:
    lines = text(trace([frame(0, 5, "f", cfa=0x1000)]), full=True, read=lambda a, s: b"")
    assert "another stack begins here" in lines[-1]


def test_big_endian_words() -> None:
    lines = text(
        trace([frame(0, 5, "f", cfa=0x7FFE0004)]),
        full=True,
        pointer_size=4,
        word_size=4,
        byte_order="big",
        read=lambda a, s: b"\x12\x34\x56\x78",
    )
    assert lines[-1].strip() == "0x7ffe0000: 0x12345678"


def test_a_search_of_the_stack_is_told_with_its_bytes() -> None:
    chain = [frames()[0], frame(1, 5, "in", "scan", inlined=True), frame(2, 5, "out", "scan")]
    lines = text(trace([*chain, frame(3, 7, "main", "scan")]))
    assert [line for line in lines if not line.startswith("#")] == [
        "(no rule leads on from #0: whocall searched 16 bytes of stack)",
        "(no rule leads on from #2: whocall searched 32 bytes of stack)",
    ]
    assert lines[1].startswith("(")


def resting(*levels: int | None) -> list[str]:
    chain = [frame(at, 5 + at, "f", rests_on=level) for at, level in enumerate(levels)]
    return text(trace(chain))[len(levels) :]


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ((None, None, 1), "1 of 3 frames rests on the search at #1."),
        ((None, 0, 0), "2 of 3 frames rest on the search at #0."),
        ((None, None, 1, 1, 3), "3 of 5 frames rest on the searches at #1 and #3."),
        ((None, 0, 1, 2), "3 of 4 frames rest on the searches at #0, #1 and #2."),
        ((None, 0, 1, 2, 3), "4 of 5 frames rest on the searches at #0, #1, #2 and 1 more."),
    ],
)
def test_what_rests_on_a_search_is_counted_at_the_end(
    levels: tuple[int | None, ...], line: str
) -> None:
    assert resting(*levels) == [line]


def test_where_no_search_was_nothing_is_said_of_one() -> None:
    assert resting(None, None) == []


def test_each_thread_counts_what_rests_on_a_search() -> None:
    first = trace([frame(0, 5, "f"), frame(1, 6, "g", "scan"), frame(2, 7, "h", rests_on=1)])
    lines = text(first, replace(trace(), number=2), every_thread=True)
    assert lines[lines.index("") - 1] == "1 of 3 frames rests on the search at #1."
    assert not any(line.endswith(".") for line in lines[lines.index("") :])


def test_a_count_does_not_hide_that_the_outermost_rest_on_a_search() -> None:
    first = trace([frame(0, 5, "f", "scan"), frame(1, 6, "g", rests_on=0)])
    assert text(first.take(-1))[-1] == "1 of 1 frame rests on the search at #0."


def test_every_thread_has_a_title() -> None:
    lines = text(trace(), every_thread=True)
    assert lines[0] == 'Thread 1 (LWP 4242 "prog", SIGSEGV):'


def test_colours_change_nothing_but_colours() -> None:
    import re

    painted = text(style=AnsiStyle())
    assert any("\x1b[" in line for line in painted)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted] == text()

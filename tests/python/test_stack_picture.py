"""The drawing of stacks, on stacks stated literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from literals import MAIN, frame, trace

from whocall.base.model import Backtrace, Stop
from whocall.report.form.style import AnsiStyle, Style
from whocall.report.stack.picture import LINES, Picture, Stack
from whocall.report.stack.view import View, painted

SP = 0x7FFE0000
FAR = 0x7F0000001BF4
WORDS = {
    SP: 0x1B,  # the innermost frame: a saved register and its return address
    SP + 8: 0x401149,
    SP + 16: 0x401160,  # the second: an address of code, one on the stack, text, return address
    SP + 24: SP + 8,
    SP + 32: int.from_bytes(b"AAAABBBB", "little"),
    SP + 40: FAR,
    SP + 48: 0,  # the third: its end cannot be read
}


def frames() -> list[Any]:
    return [
        frame(0, 0x401139, "sub_1139", "context", cfa=SP + 16, interrupted=True,
              saved={SP: "rbx", SP + 8: "rip"}),
        frame(1, 0x401149, "sub_1143", "analysis", cfa=SP + 48, saved={SP + 40: "rip"}),
        frame(2, FAR, None, "scan", cfa=SP + 64, module="/lib/libc.so.6", searched=32),
    ]  # fmt: skip


def picture(
    chain: Backtrace | None = None,
    selected: int | None = None,
    memory: Mapping[int, int] = WORDS,
    **more: Any,
) -> Picture:
    def read(address: int, size: int) -> bytes:
        word = memory.get(address)
        return b"" if word is None else word.to_bytes(size, "little")

    def code_at(address: int) -> str | None:
        return f"code{address - 0x401000:x}" if 0x401000 <= address < 0x402000 else None

    found = trace(frames(), stop=Stop("no-caller", "nobody")) if chain is None else chain
    stack = Stack(
        found,
        pointer_size=8,
        word_size=8,
        byte_order="little",
        pc_name="rip",
        read=read,
        code_at=code_at,
        **more,
    )
    return Picture(stack, selected)


def lines(drawn: Picture) -> list[str]:
    return ["".join(piece.text for piece in drawn.row(at)).rstrip() for at in range(len(drawn))]


def test_every_word_says_what_it_is() -> None:
    assert lines(picture(selected=1, strokes=LINES)) == [
        " ┌ #0  0x0000000000401139 in sub_1139 (+10) [context]  CFA 0x7ffe0010",
        " │     0x000000007ffe0000  0x000000000000001b  saved rbx",
        " │     0x000000007ffe0008  0x0000000000401149  return address into sub_1143 (+10)",
        ">├ #1  0x0000000000401149 in sub_1143 (+10) [analysis]  CFA 0x7ffe0030",
        " ┃     0x000000007ffe0010  0x0000000000401160  code of code160",
        " ┃     0x000000007ffe0018  0x000000007ffe0008  an address on the stack",
        ' ┃     0x000000007ffe0020  0x4242424241414141  "AAAABBBB"',
        " ┃     0x000000007ffe0028  0x00007f0000001bf4  return address into ??",
        " │ (no rule leads on from here: 32 bytes of stack were searched)",
        " ├ #2  0x00007f0000001bf4 in ?? () [scan?]  CFA 0x7ffe0040",
        " │     0x000000007ffe0030  0x0000000000000000",
        " │     0x000000007ffe0038  cannot be read",
        " └ (whocall stopped: nobody)",
    ]


def test_the_mark_can_be_moved() -> None:
    drawn = picture()
    assert not any(line.startswith(">") for line in lines(drawn))
    drawn.selected = 2
    assert [line[:6] for line in lines(drawn) if line.startswith(">")] == [">+ #2 "]


def test_inlined_calls_have_a_head_and_no_words() -> None:
    chain = [
        frame(0, 0x401139, "inner", "context", cfa=SP + 16, inlined=True),
        frame(1, 0x401139, "outer", "context", cfa=SP + 16),
        frame(2, MAIN, "main", cfa=None),
    ]
    drawn = picture(trace(chain), selected=0, strokes=LINES)
    assert lines(drawn)[:4] == [
        ">┌ #0  inner () [context, inlined]",
        " ├ #1  0x0000000000401139 in outer (+10) [context]  CFA 0x7ffe0010",
        " ┃     0x000000007ffe0000  0x000000000000001b",
        " ┃     0x000000007ffe0008  0x0000000000401149  code of code149",
    ]
    assert drawn.rows_of(0) == range(4)
    assert lines(drawn)[4].endswith("[cfi]  CFA unknown")
    assert lines(drawn)[-1] == " └ (the stack ends here)"


def test_a_signal_frame_leads_to_another_stack() -> None:
    chain = [
        frame(0, 0x401139, "handler", "context", cfa=SP + 16),
        frame(1, 0x401149, None, "cfi", cfa=0x10000, signal_trampoline=True, saved={SP: "rip"}),
        frame(2, MAIN, "main", cfa=0x10010),
    ]
    drawn = lines(picture(trace(chain)))
    assert drawn[3] == " + #1  <signal handler called> [cfi]  CFA 0x10000"
    assert " | (another stack, at 0x10000)" in drawn
    assert any("0x0000000000010008  cannot be read" in line for line in drawn)


@pytest.mark.parametrize("cfa", [SP - 8, SP + (1 << 40), SP])
def test_a_frame_without_words_of_its_own(cfa: int) -> None:
    drawn = lines(picture(trace([frame(0, MAIN, "main", "context", cfa=cfa)])))
    assert len(drawn) == 2


def test_words_of_four_bytes() -> None:
    chain = trace([frame(0, 0x401139, "f", "context", cfa=SP + 8)])
    stack = Stack(chain, 4, 4, "big", "pc", lambda at, size: bytes([1, 2, 3, 4]), lambda at: None)
    assert lines(Picture(stack))[1:3] == [
        " |     0x7ffe0000  0x01020304",
        " |     0x7ffe0004  0x01020304",
    ]


def test_rows_are_made_when_they_are_looked_at() -> None:
    def unread(address: int, size: int) -> bytes:
        raise AssertionError("nobody looked")

    chain = trace([frame(0, MAIN, "main", "context", cfa=SP + (1 << 27))])
    drawn = Picture(Stack(chain, 8, 8, "little", "rip", unread, lambda at: None))
    assert len(drawn) == (1 << 24) + 2
    assert drawn.row(0)
    assert drawn.row(len(drawn) - 1)
    with pytest.raises(AssertionError):
        drawn.row(1)


def test_rows_are_cut_and_painted() -> None:
    row = picture().row(0)
    plain = "".join(piece.text for piece in row)
    assert painted(row, 0, 30, Style()) == plain[:30]
    assert painted(row, 7, 30, Style()) == plain[7:37]
    assert painted(row, 500, 30, Style()) == ""
    colours = AnsiStyle({"function": "33"})
    assert painted(row, 30, 3, colours) == "\x1b[33m" + plain[30:33] + "\x1b[0m"


def view(height: int) -> View:
    found = View()
    found.show(picture())
    assert len(found.lines(200, height, Style())) == min(height, 13)
    return found


def test_scrolling_stays_inside() -> None:
    found = view(5)
    found.scroll(3, 2, 5)
    assert (found.top, found.left) == (3, 2)
    found.scroll(100, -9, 5)
    assert (found.top, found.left) == (8, 0)
    found.scroll(-100, 0, 5)
    assert found.top == 0


@pytest.mark.parametrize(
    ("top", "index", "height", "expected"),
    [
        (0, 0, 5, 0),  # seen already
        (0, 1, 5, 3),  # as little as shows it
        (0, 1, 6, 2),
        (8, 0, 5, 0),
        (0, 1, 3, 3),  # too large for the window: from its head on
        (0, 2, 20, 0),
    ],
)
def test_a_frame_is_brought_into_view(top: int, index: int, height: int, expected: int) -> None:
    found = view(height)
    found.scroll(top, 0, height)
    found.reveal(index, height)
    assert found.top == expected


def test_without_a_picture_a_sentence() -> None:
    found = View()
    found.show(None, "The program has no registers now.")
    assert found.lines(12, 2, Style()) == ["The program", "has no"]
    found.scroll(5, 5, 2)
    found.reveal(0, 2)
    assert found.lines(80, 2, Style()) == ["The program has no registers now."]

"""Parses the text that gdb's `bt` and `thread apply all bt` print, as users see and paste it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THREAD = re.compile(r"Thread (\d+) \(.*?LWP (\d+)")
_FRAME = re.compile(r"#(\d+)\s+(?:0x([0-9a-f]+) in )?(.*)")
_SIGNAL = "<signal handler called>"


@dataclass(frozen=True)
class BtLine:
    """One line: level, pc (None where gdb prints none), name (None for `??`), trampoline or not."""

    level: int
    pc: int | None
    name: str | None
    signal: bool = False


def parse(text: str) -> dict[int, list[BtLine]]:
    """Lines by thread id; a plain `bt` names no thread and is filed under 0."""
    threads: dict[int, list[BtLine]] = {}
    tid = 0
    for line in text.splitlines():
        if thread := _THREAD.match(line):
            tid = int(thread[2])
            threads[tid] = []
        elif frame := _FRAME.match(line):
            threads.setdefault(tid, []).append(_line(frame))
    if len(threads) > 1:
        threads.pop(0, None)  # What gdb shows of the selected thread when it opens a core.
    return {tid: _last_stack(lines) for tid, lines in threads.items()}


def _line(frame: re.Match[str]) -> BtLine:
    pc = int(frame[2], 16) if frame[2] else None
    signal = frame[3].startswith(_SIGNAL)
    name = None if signal else _function(frame[3])
    return BtLine(int(frame[1]), pc, name, signal)


def _function(text: str) -> str | None:
    """The name before the parenthesised arguments, minding C++ names that hold ` (` in brackets."""
    depth = 0
    for number, letter in enumerate(text):
        before_operator = text[:number].rstrip("<>=-").endswith("operator")
        if letter == "<" and not before_operator:
            depth += 1
        elif letter == ">" and not before_operator:
            depth -= 1
        elif letter == "(" and depth == 0 and text[number - 1 : number] == " ":
            name = text[: number - 1]
            return None if name == "??" else name
    return text or None


def _last_stack(lines: list[BtLine]) -> list[BtLine]:
    """Of a plain `bt`: opening a core shows frame 0 as well; the backtrace is what begins last."""
    starts = [number for number, line in enumerate(lines) if line.level == 0]
    return lines[starts[-1] :] if starts else lines

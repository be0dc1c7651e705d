"""A thread's stack as rows of a picture: a head for each frame, and below it every word of it.

Rows are made one by one when they are looked at: a stack may have millions of words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from whocall.base.model import Backtrace, Frame
from whocall.base.printable import printable
from whocall.report.backtrace.words import describe_function, stop_line, trust_words

WORDS_WITHOUT_CFA = 8  # shown of a frame whose end is not known
LARGEST_FRAME = 1 << 28  # bytes; beyond that the CFA lies on another stack
LARGEST_SIGNAL_FRAME = 1 << 16  # bytes: the kernel saves at most some 11 KiB

# By trust, the roles of style.py: known by the program's own tables, concluded, guessed.
_ROLES = {
    "context": "filename",
    "cfi": "filename",
    "analysis": "function",
    "frame-pointer": "function",
    "scan": "highlight",
}


class Piece(NamedTuple):
    """A part of a row and its role, one of style.ROLES, or "" for plain text."""

    text: str
    role: str = ""


Row = Sequence[Piece]


@dataclass(frozen=True)
class Strokes:
    """What frames are drawn with."""

    first: str = "+"  # before the head of the innermost frame
    head: str = "+"
    word: str = "|"
    chosen: str = "|"  # before the words of the selected frame
    last: str = "+"


LINES = Strokes("┌", "├", "│", "┃", "└")


@dataclass(frozen=True)
class Stack:
    """What is drawn: a walk with registers, and what can be asked about its process."""

    trace: Backtrace
    pointer_size: int  # bytes
    word_size: int  # of a word of the stack, bytes
    byte_order: str  # "little" or "big"
    pc_name: str  # the register under which a walk tells the return address
    read: Callable[[int, int], bytes]  # up to `size` bytes at an address
    code_at: Callable[[int], str | None]  # "main (+14)" when the address is one of code
    strokes: Strokes = Strokes()


class _Block(NamedTuple):
    """One frame's rows: notes, the head, the words."""

    at: int  # index into trace.frames
    begin: int  # address of the first word
    words: int
    notes: Sequence[str]  # before the head

    @property
    def rows(self) -> int:
        return len(self.notes) + 1 + self.words


def _extent(frame: Frame, sp: int, word: int) -> tuple[int, bool]:
    """How many words the frame has from `sp` on, and whether its CFA is on another stack."""
    if frame.cfa is None:
        return WORDS_WITHOUT_CFA, False
    size = frame.cfa - sp
    largest = LARGEST_SIGNAL_FRAME if frame.signal_trampoline else LARGEST_FRAME
    if not 0 <= size <= largest:
        return (WORDS_WITHOUT_CFA if frame.signal_trampoline else 0), True
    return size // word, False


def _search_note(below: Frame, frame: Frame, searched: int) -> str:
    if "damaged-return" in frame.evidence:
        return "the return address was overwritten in part"
    replaced = "return-replaced" in below.evidence
    why = "a return address was replaced by this one" if replaced else "no rule leads on from here"
    return f"{why}: {searched} bytes of stack were searched"


class Picture:
    """The rows of a stack, innermost frame first: `len(picture)`, `picture.row(i)`.

    `selected` is the index of the frame that is marked; it may be set at any time.
    """

    def __init__(self, stack: Stack, selected: int | None = None) -> None:
        self.selected = selected
        self._stack = stack
        self._digits = 2 * stack.pointer_size + 2
        self._blocks: list[_Block] = []
        self._starts: list[int] = []  # the first row of each block
        end = self._lay_out()
        why = stop_line(stack.trace)
        self._last = printable(why.strip("()")) if why else "the stack ends here"
        self._length = end + 1

    def _lay_out(self) -> int:
        trace, word = self._stack.trace, self._stack.word_size
        sp, row, elsewhere = trace.sp, 0, False
        for index, frame in enumerate(trace.frames):
            notes: list[str] = []
            if frame.searched is not None and index:
                notes.append(_search_note(trace.frames[index - 1], frame, frame.searched))
            if elsewhere and not frame.inlined:
                notes.append(f"another stack, at {sp:#x}")
            words = 0
            if not frame.inlined:
                words, elsewhere = _extent(frame, sp, word)
            block = _Block(index, sp, words, notes)
            self._blocks.append(block)
            self._starts.append(row)
            row += block.rows
            if frame.cfa is not None and not frame.inlined:
                sp = frame.cfa
        return row

    def __len__(self) -> int:
        return self._length

    def _holder(self, index: int) -> int:
        """Index of the frame itself, or of that which trace.frames[index] is inlined into."""
        frames = self._stack.trace.frames
        while frames[index].inlined and index + 1 < len(frames):
            index += 1
        return index

    def rows_of(self, index: int) -> range:
        """The rows of trace.frames[index]: its notes too, and what it is inlined into."""
        last = self._holder(index)
        return range(self._starts[index], self._starts[last] + self._blocks[last].rows)

    def row(self, at: int) -> Row:
        """The row `at`, 0 <= at < len(self)."""
        if at == self._length - 1:
            role = "metadata"
            return [Piece(" "), Piece(f"{self._stack.strokes.last} ({self._last})", role)]
        block = self._blocks[bisect_right(self._starts, at) - 1]
        inside = at - self._starts[block.at] - len(block.notes)
        if inside < 0:
            note = block.notes[inside + len(block.notes)]
            return [Piece(" "), Piece(f"{self._stack.strokes.word} ({note})", "metadata")]
        return self._head(block) if inside == 0 else self._word(block, inside - 1)

    def _head(self, block: _Block) -> Row:
        frame = self._stack.trace.frames[block.at]
        strokes = self._stack.strokes
        chosen = block.at == self.selected
        role = _ROLES.get(frame.trust, "")
        pieces = [
            Piece(">" if chosen else " ", "title"),
            Piece(f"{strokes.head if block.at else strokes.first} ", role),
            Piece(f"#{frame.level:<2} ", "title" if chosen else role),
        ]
        if frame.signal_trampoline:
            pieces.append(Piece("<signal handler called>"))
        else:
            if not frame.inlined:
                pieces += [Piece(f"{frame.pc:#0{self._digits}x}", "address"), Piece(" in ")]
            name, behind = describe_function(frame)
            pieces += [Piece(name, "function"), Piece(" ()" if frame.inlined else behind)]
        pieces += [Piece(" "), Piece(trust_words(frame), role)]
        if not frame.inlined:
            cfa = "unknown" if frame.cfa is None else f"{frame.cfa:#x}"
            pieces.append(Piece(f"  CFA {cfa}", "metadata"))
        return pieces

    def _word(self, block: _Block, number: int) -> Row:
        stack = self._stack
        frame = stack.trace.frames[block.at]
        chosen = self.selected is not None and block.at == self._holder(self.selected)
        address = block.begin + number * stack.word_size
        pieces = [
            Piece(" "),
            Piece(stack.strokes.chosen if chosen else stack.strokes.word, _ROLES[frame.trust]),
            Piece(f"     {address:#0{self._digits}x}", "address"),
        ]
        data = stack.read(address, stack.word_size)
        if len(data) < stack.word_size:
            return [*pieces, Piece("  cannot be read", "metadata")]
        value = int.from_bytes(data, cast(Literal["little", "big"], stack.byte_order))
        pieces.append(Piece(f"  {value:#0{2 * stack.word_size + 2}x}"))
        return [*pieces, *self._meaning(block, address, value, data)]

    def _meaning(self, block: _Block, address: int, value: int, data: bytes) -> Row:
        """What the word is, or else what it looks like."""
        frame = self._stack.trace.frames[block.at]
        register = (frame.saved or {}).get(address)
        if register is not None and not frame.signal_trampoline and register == self._stack.pc_name:
            return [Piece("  return address into "), *self._caller(block.at)]
        if register is not None:
            return [Piece(f"  saved {register}")]
        code = self._stack.code_at(value)
        if code is not None:
            return [Piece(printable(f"  code of {code}"), "metadata")]
        if self._lies_on_stack(value):
            return [Piece("  an address on the stack", "metadata")]
        if all(0x20 <= byte < 0x7F for byte in data):
            return [Piece(f'  "{data.decode("ascii")}"', "metadata")]
        return []

    def _caller(self, index: int) -> Row:
        frames = self._stack.trace.frames
        if index + 1 == len(frames):
            return [Piece("nothing known")]
        name, behind = describe_function(frames[index + 1])
        return [Piece(name, "function"), Piece("" if behind == " ()" else behind)]

    def _lies_on_stack(self, value: int) -> bool:
        trace = self._stack.trace
        last = next((frame.cfa for frame in reversed(trace.frames) if frame.cfa), trace.sp)
        return trace.sp <= value < last

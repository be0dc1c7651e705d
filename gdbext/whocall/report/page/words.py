"""The words of a frame's stack, each with what it is known to be or looks like."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from whocall.report.form.jsonform import Json, hexes
from whocall.report.stack.picture import LARGEST_FRAME, LARGEST_SIGNAL_FRAME, WORDS_WITHOUT_CFA

if TYPE_CHECKING:
    from whocall.base.model import Backtrace, Frame
    from whocall.base.process_image import ProcessImage
    from whocall.report.page.code_names import CodeNames
    from whocall.report.page.limits import Limits

TAIL = 32  # words at a frame's end that are kept where its middle is left out


class Word(NamedTuple):
    """A word of the stack; `kind` is one of KINDS."""

    address: int
    value: int | None  # None: it cannot be read
    kind: str
    text: str


KINDS = ("return", "saved", "code", "stack", "data", "text", "number", "unread")


class StackWords:
    """What words of a process's stacks are."""

    def __init__(self, image: ProcessImage, limits: Limits, names: CodeNames) -> None:
        self._image = image
        self._names = names
        self._limits = limits
        self._size = image.word_size
        self._seen: dict[int, tuple[str, str]] = {}  # many words come again and again
        self._modules = [(module.begin, module.end) for module in image.modules]
        self._mappings = sorted(
            (mapping.begin, mapping.end, mapping.permissions, mapping.path)
            for mapping in image.native.mappings
        )

    def count(self, frame: Frame, sp: int) -> int:
        """How many words the frame has from `sp` on, as far as that is known."""
        if frame.inlined:
            return 0
        if frame.cfa is None:
            return WORDS_WITHOUT_CFA
        size = frame.cfa - sp
        most = LARGEST_SIGNAL_FRAME if frame.signal_trampoline else LARGEST_FRAME
        if not 0 <= size <= most:
            return WORDS_WITHOUT_CFA if frame.signal_trampoline else 0
        return size // self._size

    def of_frame(self, trace: Backtrace, at: int, sp: int, most: int) -> tuple[list[Word], int]:
        """The words of trace.frames[at], whose stack begins at `sp`, and behind how many of them
        others are left out, because it has more than `most`.
        """
        frame = trace.frames[at]
        count = self.count(frame, sp)
        if count <= most:
            return list(self._words(trace, at, range(count), sp)), count
        head = max(most - TAIL, 0)
        first = list(self._words(trace, at, range(head), sp))
        tail = range(count - (most - head), count)
        return [*first, *self._words(trace, at, tail, sp)], head

    def _words(self, trace: Backtrace, at: int, which: range, sp: int) -> Iterator[Word]:
        if not which:
            return
        size = self._size
        begin = sp + which.start * size
        data = self._image.read(begin, len(which) * size)
        order = self._image.byte_order
        frame = trace.frames[at]
        for number in range(len(which)):
            raw = data[number * size : (number + 1) * size]
            address = begin + number * size
            if len(raw) < size:
                yield Word(address, None, "unread", "cannot be read")
                continue
            value = int.from_bytes(raw, "big" if order == "big" else "little")
            yield Word(address, value, *self._meaning(trace, at, frame, address, value, raw))

    def _meaning(
        self, trace: Backtrace, at: int, frame: Frame, address: int, value: int, raw: bytes
    ) -> tuple[str, str]:
        register = (frame.saved or {}).get(address)
        if register == self._image.native.pc_name and not frame.signal_trampoline:
            return "return", self._return_text(trace, at)
        if register is not None:
            return "saved", f"saved {register}"
        return self.looks_like(value, raw)

    def _return_text(self, trace: Backtrace, at: int) -> str:
        if at + 1 >= len(trace.frames):
            return "return address"
        caller = trace.frames[at + 1]
        offset = "" if caller.offset is None else f"+{caller.offset}"
        return f"return address into #{caller.level} {caller.shown}{offset}"

    def looks_like(self, value: int, raw: bytes) -> tuple[str, str]:
        """The kind of a word of which nothing is known, and a text on it."""
        known = self._seen.get(value)
        if known is None:
            known = self._seen[value] = self._look(value, raw)
        return known

    def _look(self, value: int, raw: bytes) -> tuple[str, str]:
        found = self._mapping_of(value)
        if found is not None:
            begin, permissions, path = found
            if "x" in permissions:
                name = self._names.at(value)
                if name is not None:
                    return "code", f"code: {name}"
                where = path.rpartition("/")[2] if path else "memory without a file"
                return "code", f"code of {where}+{value - self._base(value, begin):#x}"
            if path == "[stack]" or begin in self._stacks:
                return "stack", "an address on the stack"
            where = path.rpartition("/")[2] if path else "memory without a file"
            return "data", f"into {where}+{value - self._base(value, begin):#x}"
        if value and all(0x20 <= byte < 0x7F for byte in raw):
            return "text", f'"{raw.decode("ascii")}"'
        return "number", ""

    def _base(self, address: int, begin: int) -> int:
        """Where the file that the address lies in begins, else the mapping."""
        at = bisect_right(self._modules, (address, 1 << 65)) - 1
        inside = at >= 0 and address < self._modules[at][1]
        return self._modules[at][0] if inside else begin

    def _mapping_of(self, address: int) -> tuple[int, str, str] | None:
        at = bisect_right(self._mappings, (address, 1 << 65, "", "")) - 1
        if at < 0 or address >= self._mappings[at][1]:
            return None
        begin, _, permissions, path = self._mappings[at]
        return begin, permissions, path

    @cached_property
    def _stacks(self) -> frozenset[int]:
        """Where the mappings begin that threads have their stacks in."""
        found = (self._mapping_of(thread.sp) for thread in self._image.threads if thread.sp)
        return frozenset(mapping[0] for mapping in found if mapping is not None)


def word_json(word: Word) -> list[str | None]:
    """[address, value, kind, text]."""
    return [hexes(word.address), hexes(word.value), word.kind, word.text]


def mappings_json(image: ProcessImage) -> list[Json]:
    """What lies where in the process."""
    return [
        {
            "begin": hexes(mapping.begin),
            "end": hexes(mapping.end),
            "permissions": mapping.permissions,
            "path": mapping.path or None,
        }
        for mapping in image.native.mappings
    ]

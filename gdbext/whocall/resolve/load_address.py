"""Where a program was loaded, found out from the addresses on a stack alone.

A Rust program that panics prints runtime addresses, and neither files nor mappings. But each is
where a call returns to, and programs are loaded at whole pages: so of all load addresses only those
count for which a call instruction stands before every address that then lies in the program's code.
With half a dozen addresses one is left. It is taken only where chance would hardly ever give it.
(A program that is not moved lies at its link addresses, or it is another one.)

Example: 0x55b5b69e6a64 and 0x55b5b69e6a98 among twenty; the program's file has calls that end at
0x7a64 and 0x7a98, and the other eighteen fit as well: it was loaded at 0x55b5b69df000.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice

from whocall.core.elf_head import PAGE, ElfHead
from whocall.core.regular_file import open_regular

_MOST_CODE = 1 << 30  # bytes
# Half a dozen addresses tell. A log that was written to keep whoever reads it busy has thousands.
_MOST_ADDRESSES = 64
_X86_64, _AARCH64 = 62, 183
# Of the bytes before any address so many end in what looks like a call, at the most.
_CHANCE = 0.05
_LIKELY_ENOUGH = 0.001
# The distances from the end of a call at which these bytes may stand.
_MARKS: dict[int, tuple[tuple[tuple[int, ...], re.Pattern[bytes]], ...]] = {
    _X86_64: (((5,), re.compile(rb"\xe8")), ((2, 3, 4, 6, 7), re.compile(rb"\xff"))),
    _AARCH64: (((1,), re.compile(rb"[\x94-\x97\xd6]")),),
}
# call *register, call *disp8(register), call *disp32(register), call *disp32(%rip), with SIB.
_INDIRECT = re.compile(
    rb"(?s:\xff(?:[\xd0-\xd7]|[\x50-\x53\x55-\x57].|\x54..|[\x90-\x93\x95-\x97\x15].{4}|\x94.{5}"
    rb"|[\x10-\x13\x16\x17]|\x14.)\Z)"
)


class _Code:
    """The executable segment of a program."""

    def __init__(self, head: ElfHead) -> None:
        parts = [part for part in head.segments if part.executable and head.has_code]
        self.begin = self.end = 0
        self.bytes = b""
        if len(parts) != 1 or parts[0].file_size > _MOST_CODE:
            return
        try:
            with open_regular(head.path) as file:
                file.seek(parts[0].offset)
                self.bytes = file.read(parts[0].file_size)
        except (OSError, ValueError, OverflowError):
            return
        self.begin = parts[0].address
        self.end = self.begin + len(self.bytes)

    def ends_call_of_x86_64(self, link: int) -> bool:
        """Whether a call instruction may end at a link address."""
        at = link - self.begin
        before = self.bytes[max(0, at - 7) : at]
        if len(before) == 7 and before[2] == 0xE8:
            target = link + int.from_bytes(before[3:], "little", signed=True)
            if self.begin <= target < self.end:
                return True
        return _INDIRECT.search(before) is not None

    def ends_call_of_aarch64(self, link: int) -> bool:
        """The same: bl, blr."""
        at = link - self.begin
        word = int.from_bytes(self.bytes[max(0, at - 4) : at], "little")
        return link % 4 == 0 and (word >> 26 == 0x25 or word & 0xFFFFFC1F == 0xD63F0000)

    def ends_call(self, machine: int, link: int) -> bool | None:
        """Whether a call may end there; None where that cannot be told."""
        if not self.begin <= link < self.end:
            return None
        if machine == _X86_64:
            return self.ends_call_of_x86_64(link)
        return self.ends_call_of_aarch64(link) if machine == _AARCH64 else None

    def pages_with_call(self, machine: int, at: int) -> Iterator[int]:
        """All places, whole pages from `at` (in the code), before which a call may stand: so cheap
        that programs of a hundred megabytes can be asked about many addresses.
        """
        found: set[int] = set()
        for distances, mark in _MARKS[machine]:
            for distance in distances:
                first = at - distance if at >= distance else at - distance + PAGE
                column = self.bytes[first::PAGE]
                found.update(first + distance + PAGE * hit.start() for hit in mark.finditer(column))
        yield from sorted(found)


def load_bias(head: ElfHead, return_addresses: Iterable[int]) -> int | None:
    """Runtime address minus link address of a program on whose stack these addresses were, the
    innermost first; None where they do not tell.
    """
    wanted = sorted(islice(dict.fromkeys(return_addresses), _MOST_ADDRESSES))
    code = _Code(head)
    if not code.bytes or head.machine not in _MARKS:
        return None
    pages = 1 if head.first else len(code.bytes) // PAGE + 1
    best: tuple[int, int] | None = None
    several = False
    for anchor in wanted:
        if best is not None:
            break
        for bias in (0,) if head.first else _biases(code, head.machine, anchor):
            first = bisect_right(wanted, code.begin + bias)
            inside = wanted[first : bisect_left(wanted, code.end + bias)]
            if pages * len(wanted) * _chance(len(inside), 0) > _LIKELY_ENOUGH:
                continue
            odd = sum(not code.ends_call(head.machine, each - bias) for each in inside)
            # One may be where a signal interrupted the program, if enough others tell.
            if odd > 1 or pages * len(wanted) * _chance(len(inside), odd) > _LIKELY_ENOUGH:
                continue
            if best is not None and len(inside) == best[0]:
                several = True
            if best is None or len(inside) > best[0]:
                best, several = (len(inside), bias), False
    return None if best is None or several else best[1]


def _chance(count: int, odd: int) -> float:
    """How likely it is that behind all of so many places but `odd` a call seems to end."""
    return float(count**odd * _CHANCE ** (count - odd))


def _biases(code: _Code, machine: int, anchor: int) -> Iterator[int]:
    """The load biases, in whole pages, for which `anchor` lies in the code behind a call."""
    for at in code.pages_with_call(machine, (anchor - code.begin) % PAGE):
        link = code.begin + at
        if link < code.end and anchor >= link:
            yield anchor - link

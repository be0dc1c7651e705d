"""The pieces that frames are made of in logs, and forms that are put together from them.

A form is written as a regular expression in which a word in braces stands for a piece:

    Object "{module}", at {address}, in {symbol}

So what an address or a path looks like is said once, and that no piece is read for long: each is
bounded, and of a form the head is looked for once in a line, the rest stands behind it.
"""

from __future__ import annotations

import re

from whocall.base.records import dataclass

PIECES = {
    "level": r"(?P<level>[0-9]{1,6})",
    "address": r"0[xX](?P<address>[0-9a-fA-F]{1,16})",  # at run time
    "bare": r"(?P<address>[0-9a-fA-F]{4,16})",  # the same without 0x
    "offset": r"0x(?P<offset>[0-9a-fA-F]{1,16})",  # in the module
    "in": r"0x(?P<in>[0-9a-fA-F]{1,16})",  # in the function
    "base": r"0x(?P<base>[0-9a-fA-F]{1,16})",  # where the module begins
    "path": r"(?P<module>[./][^\"\[\]]{0,4096}?)",
    "module": r"(?P<module>[^\"\[\]\s+`][^\"\[\]+`]{0,4095}?)",
    "word": r"(?P<module>[^\"\[\]\s()+`]{1,4096})",
    "symbol": r"(?P<symbol>[^\s+][^+]{0,4095}?)",
    "here": r"(?P<here>)",  # our name goes there if the log has none
    "name": r"(?P<symbol>[^\s+(]{1,4096})",
}

# How an address is to be taken: where a call returns to, or in the call itself, which is also how
# an instruction is told that was interrupted. Of some stacks the frame 0 is such a one, or the
# first that is printed.
RETURN, CALL, ZERO_EXACT, FIRST_EXACT = "return", "call", "zero exact", "first exact"


@dataclass(frozen=True)
class Form:
    """One way to write frames."""

    kind: str
    example: str  # a line of it
    needs: str  # what stands in each of its lines: others are not looked at
    head: re.Pattern[str]  # what it begins with, at its first place in the line
    rest: re.Pattern[str]  # all pieces, right behind the head
    side: str
    counted: str  # what an offset counts from, as in place.py
    again: bool  # the rest stands there several times
    block: str  # lines of it stand only below one that opens this block; "" for any
    program: bool  # what tells no file lies in the program itself
    native: bool  # False for code that lies in no file: the log names it, or nobody


def put_together(template: str) -> re.Pattern[str]:
    """A form's part as a pattern."""
    return re.compile(re.sub(r"\{([a-z]+)\}", lambda found: PIECES[str(found[1])], template))


def form(
    kind: str,
    example: str,
    needs: str,
    head: str,
    rest: str,
    *,
    side: str = RETURN,
    counted: str = "link",
    again: bool = False,
    block: str = "",
    program: bool = False,
    native: bool = True,
) -> Form:
    """A row of the table of forms."""
    return Form(
        kind, example, needs, put_together(head), put_together(rest), side, counted, again, block,
        program, native,
    )  # fmt: skip

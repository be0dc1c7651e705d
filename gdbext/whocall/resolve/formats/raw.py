"""Any text with addresses in it, where it is known which files lie where.

fault at pc 0x55d0c8a01139, called from 0x55d0c8a011c8

A number counts when code is mapped there. Behind "pc", "ip" and their like stands the address of
the instruction itself, and where a stack is numbered so it does in the first line; all others are
taken for addresses that calls return to.
"""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place

NAME = "raw"
_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_.])(?:0x([0-9a-fA-F]{4,16})|([0-9a-fA-F]{8,16}))(?![0-9A-Za-z_.])"
)
_EXACT = re.compile(r"(?:\b(?:pc|PC|ip|IP|rip|RIP|eip|EIP|at)\b\W{0,3}|#0\s{1,4})$")
_MAY_BE = re.compile(r"(?<![0-9A-Za-z_.])0x[0-9a-fA-F]{6,16}(?![0-9A-Za-z_.])")
_MOST = 64  # in a line


def may_hold_addresses(line: str) -> bool:
    """Whether there is what would be looked up if it were known which files lie where."""
    return "0x" in line and _MAY_BE.search(line) is not None


def places(line: str, context: Context) -> list[Place]:
    """The addresses that a line tells of."""
    if not context.maps:
        return []
    found = []
    for number in _NUMBER.finditer(line):
        address = int(number[1] or number[2], 16)
        mapping = context.maps.find(address)
        if mapping is None or mapping.executable is False:
            continue
        end = number.end()
        exact = _EXACT.search(line, max(0, number.start() - 8), number.start()) is not None
        found.append(Place(end, end, before=" <", after=">", address=address, caller=not exact))
        if len(found) == _MOST:
            break
    return found

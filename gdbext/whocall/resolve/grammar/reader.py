"""Reads frames of every form that the table has."""

from __future__ import annotations

import re

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place
from whocall.resolve.grammar.forms import BLOCKS, FORMS, MARKS, UNKNOWN
from whocall.resolve.grammar.pieces import CALL, FIRST_EXACT, ZERO_EXACT, Form

_SOURCE = re.compile(r"(?:\) |^)?at \S.{0,4096}:[0-9]{1,9}(?::[0-9]{1,9})?$|.{0,4096}:[0-9]{1,9}$")
_MOST = 256  # frames in a line


def read(line: str, context: Context) -> tuple[str, list[Place]]:
    """The kind of the first form that the line is of, and its frames."""
    _open_block(line, context)
    told = line.rstrip()
    for mark, count in MARKS.items():
        if told.endswith(mark):
            context.interrupted = count
            return "", []
    for each in FORMS:
        if each.needs not in line or (each.block and each.block != context.block):
            continue
        head = each.head.search(line)
        places = _places(each, line, head, context) if head is not None else []
        if places:
            return each.kind, places
    if context.block and not BLOCKS[context.block].within.match(line):
        context.block = context.block if context.block in context.begins else ""
    return "", []


def _open_block(line: str, context: Context) -> None:
    """Whether the lines below are frames for what stands in this one."""
    for name, block in BLOCKS.items():
        if block.needs in line and block.opens.search(line):
            context.block = name
            context.begins.add(name)


def _places(form: Form, line: str, head: re.Match[str], context: Context) -> list[Place]:
    places: list[Place] = []
    at = head.end()
    while len(places) < _MOST:
        found = form.rest.match(line, at)
        if found is None or found.end() == at:
            break
        at = found.end()
        told = head.groupdict() | found.groupdict()
        caller = _is_caller(form, _number(told.get("level"), 10), len(places), context)
        places.append(_place(form, line, found, told, caller))
        if not form.again:
            break
    return places


def _place(
    form: Form, line: str, found: re.Match[str], told: dict[str, str | None], caller: bool
) -> Place:
    module = told.get("module")
    symbol, begin, end = _symbol(found)
    address, offset = _number(told.get("address")), _number(told.get("offset"))
    inside, base = _number(told.get("in")), _number(told.get("base"))
    if address is not None and base is not None:
        offset = address - base
    elif offset is None and symbol is None and inside is not None:
        offset, inside = inside, None
    if not form.native:
        address = offset = None
    spaced = begin == end and not line[:begin].endswith(" ")
    listed = form.again and begin == end
    return Place(
        begin,
        end,
        before=" <" if listed else " " if spaced else "",
        after=">" if listed else "",
        address=address,
        module=module,
        offset=offset,
        counted=form.counted,
        symbol=symbol,
        symbol_offset=inside if symbol else None,
        caller=caller,
        stepped=form.side == CALL,
        level=_number(told.get("level"), 10),
        sourced=not form.native or bool(told.get("line") or _is_sourced(symbol)),
        program=form.program and module is None,
    )


def _symbol(found: re.Match[str]) -> tuple[str | None, int, int]:
    """What the log calls the function, and what our name takes the place of."""
    groups = found.groupdict()
    symbol = groups.get("symbol")
    if symbol is None:
        at = found.start("here") if "here" in groups else found.end()
        return None, at, at
    begin, end = found.span("shown" if groups.get("shown") else "symbol")
    if groups.get("in") and found.string[end] == "+":
        end = found.end("in")
    return None if UNKNOWN.fullmatch(symbol) else symbol, begin, end


def _is_sourced(symbol: str | None) -> bool:
    return symbol is not None and _SOURCE.search(symbol[-4096:]) is not None


def _is_caller(form: Form, level: int | None, nth: int, context: Context) -> bool:
    """Whether the address is where a call returns to."""
    if form.side == FIRST_EXACT and form.block:
        first = form.block in context.begins
        context.begins.discard(form.block)
        return not first
    if form.side == FIRST_EXACT:
        return nth != 0
    return form.side != CALL and (form.side != ZERO_EXACT or level != 0)


def _number(text: str | None, base: int = 16) -> int | None:
    return int(text, base) if text else None

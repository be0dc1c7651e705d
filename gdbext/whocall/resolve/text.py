"""The log with names in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.model import marked
from whocall.base.printable import printable_line
from whocall.report.form.style import Style

if TYPE_CHECKING:
    from whocall.resolve.facts.place import Answer, Place
    from whocall.resolve.resolver import Line


def name_of(place: Place, answer: Answer, style: Style) -> str:
    """`f+0x9 at t.c:12, inlined into g+0x20 at t.c:40`; "" where there is nothing to say that the
    log does not say itself.
    """
    if answer.function is None or (place.sourced and place.symbol):
        return ""
    offset = "" if answer.offset is None else f"+{answer.offset:#x}"
    outer = style.paint("function", marked(answer.function, answer.inferred)) + offset
    parts = []
    for at, (function, file, line) in enumerate(answer.lines):
        name = style.paint("function", function) if at + 1 < len(answer.lines) else outer
        where = f" at {style.paint('filename', file)}:{line}" if file else ""
        parts.append(name + where)
    return ", inlined into ".join(parts) or outer


def resolved(line: Line, style: Style, kept: str = "\t") -> str:
    """The line with names, and its end. What a terminal would obey is told, but for what is kept:
    tabs are a log's own. (In what we make of a record they can only be those of a name.)
    """
    pieces = []
    at = 0
    for place, answer in line.places:
        name = name_of(place, answer, style)
        if name and at <= place.begin <= place.end <= len(line.text):
            pieces += [
                printable_line(line.escape(line.text[at : place.begin]), kept=kept),
                line.escape(place.before + name + place.after),
            ]
            at = place.end
    rest = printable_line(line.escape(line.text[at:]), kept=kept)
    return "".join([*pieces, rest, line.end])

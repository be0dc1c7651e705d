"""The forms in which a trace is written, by their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from whocall.report.form.style import Style, shown_line
from whocall.tracing import forms
from whocall.tracing.forms import Telling


def pieces(telling: Telling, form: str, style: Style, last: int | None = None) -> Iterable[str]:
    """The text of one of FORMS, or of the tree for "tree"."""
    if form == "json":
        return telling.json()
    if form == "folded":
        return telling.profile().folded()
    if form == "svg":
        from whocall.tracing.flame import flame_graph

        return flame_graph(telling)
    if form == "tree":
        return _tree(telling, style, last)
    lines = {
        "callers": forms.caller_lines,
        "profile": forms.profile_lines,
        "stacks": forms.stack_lines,
    }[form](telling, style)
    return (shown_line(line) + "\n" for line in lines)


def _tree(telling: Telling, style: Style, last: int | None) -> Iterator[str]:
    for line in forms.thread_lines(telling, style):
        yield shown_line(line) + "\n"
    if last is None:
        yield from telling.tree(style)
        return
    kept: deque[str] = deque(maxlen=last)
    for piece in telling.tree(style):
        kept.extend(piece.split("\n")[:-1])
    yield from (line + "\n" for line in kept)

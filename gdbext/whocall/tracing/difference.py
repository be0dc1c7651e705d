"""Two profiles beside each other: what a change has made quicker, slower, or called more often."""

from __future__ import annotations

from collections.abc import Iterator

from whocall.base.records import dataclass
from whocall.report.form.style import Style
from whocall.tracing.forms import Telling, duration

_NOTHING = (0, 0)


@dataclass(frozen=True)
class Change:
    """Of one name: calls, and nanoseconds in itself, in the first trace and in the other."""

    name: str
    calls: tuple[int, int]
    own: tuple[int, int]

    @property
    def difference(self) -> int:
        """Nanoseconds that the other spends more."""
        return self.own[1] - self.own[0]


def _by_name(telling: Telling) -> dict[str, tuple[int, int]]:
    """Calls and own time: programs put functions elsewhere, and names stay."""
    found: dict[str, tuple[int, int]] = {}
    for function, calls, _, own in telling.profile().functions:
        name = telling.names.functions[function]
        before = found.get(name, _NOTHING)
        found[name] = before[0] + calls, before[1] + own
    return found


def changes(first: Telling, other: Telling) -> list[Change]:
    """Of all functions of either, the largest difference of time first."""
    before, behind = _by_name(first), _by_name(other)
    found = []
    for name in before.keys() | behind.keys():
        one, two = before.get(name, _NOTHING), behind.get(name, _NOTHING)
        found.append(Change(name, (one[0], two[0]), (one[1], two[1])))
    return sorted(found, key=lambda each: (-abs(each.difference), each.name))


def _signed(nanoseconds: int) -> str:
    return ("+" if nanoseconds > 0 else "-" if nanoseconds < 0 else "") + duration(abs(nanoseconds))


def difference_lines(first: Telling, other: Telling, style: Style) -> Iterator[str]:
    """A line for each function: own times, calls, what was not called in one of them is `-`."""
    heads = ("self", "then", "change", "calls", "then")
    yield style.paint(
        "title", " ".join(f"{head:>{width}}" for head, width in zip(heads, _WIDTHS)) + "  function"
    )
    for each in changes(first, other):
        cells = [*(_cell(each, at, duration(each.own[at])) for at in (0, 1))]
        cells += [_signed(each.difference)]
        cells += [_cell(each, at, f"{each.calls[at]:,}") for at in (0, 1)]
        row = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS))
        yield f"{row}  {style.paint('function', each.name)}"


_WIDTHS = (12, 12, 13, 12, 12)


def _cell(each: Change, at: int, text: str) -> str:
    return text if each.calls[at] or each.own[at] else "-"

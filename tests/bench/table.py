"""The figures as one table, for people or for docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.figures import Figure, Figures
from bench.targets import Kind, Line

HEAD = ("", "whocall", "peer", "", "ratio", "wanted", "met", "peak, MiB")
RATIO = HEAD.index("ratio")
_RIGHT = (1, 3, 4, 5, 7)
_PAGE = (0, 1, 2, 3, 4, 7)  # what a page shows


_LARGER = {"ns": ("us", 1000), "us": ("ms", 1000), "ms": ("s", 1000)}


def _cost(figure: Figure, unit: str) -> str:
    cost = max(0.0, figure.cost)  # a difference of two may be less than nothing
    while cost >= 1000 and unit in _LARGER:
        unit, times = _LARGER[unit]
        cost /= times
    digits = 3 if cost < 0.1 else 2 if cost < 10 else 1 if cost < 100 else 0
    return f"{cost:.{digits}f} {unit}"


def _times(ratio: float) -> str:
    return f"{ratio:.{2 if ratio < 10 else 1 if ratio < 100 else 0}f}x"


def _peaks(line: Line, found: Figures) -> str:
    if line.unit != "s":  # what a program says of a part of itself
        return ""
    figures = [found[name] for name in (line.ours, line.theirs) if name in found]
    return " / ".join(f"{figure.peak:.0f}" for figure in figures)


def row(line: Line, found: Figures, differing: Mapping[str, str]) -> tuple[str, ...]:
    """The line's cells."""
    theirs = _cost(found[line.theirs], line.unit) if line.theirs in found else ""
    mine = _cost(found[line.ours], line.unit)
    said = next((differing[name] for name in (line.theirs, line.ours) if name in differing), "")
    ratio, wanted = "", ""
    if line.theirs:
        ratio = f"{_times(line.ratio(found))} the {'cost' if line.of_cost else 'speed'}"
        wanted = f"{line.bound:g}x" if line.has_target else ""
        wanted = {Kind.FASTER: "≥ ", Kind.WITHIN: "≤ "}.get(line.kind, "") + wanted
    elif line.kind is Kind.MEMORY:
        wanted = f"≤ {line.bound:g} MiB"
    elif line.kind is Kind.COST:
        wanted = f"≤ {line.bound:g} {line.unit}"
    met = ""
    if said:
        met = f"does not count: {said}"
    elif line.has_target:
        share = line.share(found)
        met = "yes" if share >= 1 else f"no, {share:.0%}"
    return (line.what, mine, line.peer, theirs, ratio, wanted, met, _peaks(line, found))


def rows(
    lines: Sequence[Line], found: Figures, differing: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Of the subjects that could be measured; those have every figure."""
    there = {name.partition("/")[0] for name in found}
    return [row(line, found, differing) for line in lines if line.subject in there]


def text(made: Sequence[tuple[str, ...]]) -> str:
    """Columns."""
    cells = [HEAD, *made]
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in _RIGHT else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def markdown(made: Sequence[tuple[str, ...]]) -> str:
    """For a page, whose readers want to know how fast it is, and not what was aimed at."""
    rule = tuple("---:" if at in _RIGHT else "---" for at in range(len(HEAD)))
    cells = [HEAD, rule, *(row for row in made if row[RATIO])]
    return "\n".join(f"| {' | '.join(row[at] for at in _PAGE)} |" for row in cells)

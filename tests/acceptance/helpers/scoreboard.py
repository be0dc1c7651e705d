"""Tables of what the acceptance tests measured, shown below the results of every run.

A green line says that a floor holds; how far above it the project stands, only the numbers say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


def _text(cell: object) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


@dataclass
class Table:
    """A title, column heads and rows; numbers stand right."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[object]] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        """The table as text."""
        cells = [list(self.heads), *([_text(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.heads))]
        yield self.title
        for row in cells:
            left, *right = (
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths))
            )
            yield "  ".join(["", left, *right]).rstrip()


@dataclass
class Scoreboard:
    """All tables of a session, in the order in which tests asked for them."""

    tables: dict[str, Table] = field(default_factory=dict)

    def table(self, title: str, *heads: str) -> Table:
        """The table of this title; made when first asked for."""
        return self.tables.setdefault(title, Table(title, heads))

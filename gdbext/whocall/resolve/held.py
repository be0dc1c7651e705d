"""Lines of which later ones tell what they mean: held back until these have come.

A stack of bare addresses is named by the mappings that many programs print behind it, or by its own
return addresses, of which all have to be seen. What is held is bounded, and a log that is still
being written is not waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whocall.base.records import dataclass
from whocall.resolve.envelopes import Escape, plain

if TYPE_CHECKING:
    from whocall.resolve.facts.place import Place

_MOST_LINES = 20_000
_MOST_TEXT = 4 << 20  # characters
_PATIENCE = 2_000  # lines behind the last that lacks something
_GAP = 3  # lines of other kinds between the frames of one stack


@dataclass(frozen=True)
class Row:
    """One line as it was read."""

    number: int  # from 1
    text: str
    end: str
    kind: str  # of log; "" where nothing was found
    places: list[Place]
    escape: Escape = plain  # makes of text what stands in the log
    odd: bool = False  # it looks like a frame, and no reader knows it
    lacks: bool = False  # nothing tells yet in which file a place of it lies
    wants: bool = False  # it has numbers that may turn out to be addresses


class Held:
    """Lines in their order, as stacks: rows that are of one process."""

    def __init__(self) -> None:
        self._stacks: list[list[Row]] = []
        self._lines = 0
        self._text = 0
        self._behind = 0  # lines since the last that lacks something
        self._level: int | None = None  # of the last frame that lacks something

    def __bool__(self) -> bool:
        return bool(self._stacks)

    def takes(self, row: Row) -> bool:
        """Whether the line has to wait: it lacks something itself, or stands behind such a one."""
        return row.lacks or row.wants or (bool(self._stacks) and self._behind < _PATIENCE)

    def add(self, row: Row) -> None:
        """One more."""
        if not self._stacks or (row.lacks and self._begins_stack(row)):
            self._stacks.append([])
            self._level = None
        if row.lacks:
            self._level = row.places[-1].level
        self._behind = 0 if row.lacks or row.wants else self._behind + 1
        self._stacks[-1].append(row)
        self._lines += 1
        self._text += len(row.text)

    def _begins_stack(self, row: Row) -> bool:
        """Whether the frame is of another stack than the last: others stand between, or the
        numbers begin again, from below or from above.
        """
        level, last = row.places[0].level, self._level
        if self._behind > _GAP or level is None or last is None:
            return self._behind > _GAP
        return level < last - 1 or (last == 0 and level > 1)

    @property
    def is_full(self) -> bool:
        """Whether no more is to be held: what comes too late is not waited for."""
        return self._lines >= _MOST_LINES or self._text >= _MOST_TEXT

    def stacks(self) -> Iterator[list[Row]]:
        """All, which are then no longer held."""
        held, self._stacks = self._stacks, []
        self._lines = self._text = self._behind = 0
        self._level = None
        yield from held

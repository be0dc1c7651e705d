"""From the lines of a log to what stands at the places in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from whocall.base.records import dataclass, replace, slotted
from whocall.resolve.envelopes import Escape, Piece, opened, plain
from whocall.resolve.facts.maps import Maps
from whocall.resolve.facts.place import NOTHING, Answer, Place
from whocall.resolve.formats import raw
from whocall.resolve.formats.known import frames
from whocall.resolve.held import Held, Row
from whocall.resolve.locating import locate
from whocall.resolve.trampolines import NAMES
from whocall.resolve.understood import Count, looks_like_frame

if TYPE_CHECKING:
    from whocall.resolve.facts.context import Context
    from whocall.resolve.modules import Modules

_OWN_PROGRAM = re.compile(r"/proc/(?:self|[0-9]{1,10})/exe\Z")


@slotted
@dataclass(frozen=True)
class Line:
    """A line of a log, and what was found in it."""

    number: int  # from 1
    text: str
    end: str  # "\\n", "\\r\\n", or "" for a piece of a line
    kind: str  # of log; "" where nothing was found
    places: tuple[tuple[Place, Answer], ...]
    escape: Escape = plain  # makes of text what stands in the log


class Resolver:
    """Reads one log."""

    def __init__(self, context: Context, modules: Modules) -> None:
        self.context = context
        self.modules = modules
        self.count = Count()
        self._number = 1
        self._held = Held()
        self._behind_trampoline = False  # the next frame is one that a signal interrupted

    def read(self, lines: Iterable[tuple[str, str, bool]]) -> Iterator[Line]:
        """What the lines hold; those for which later ones are needed come with these."""
        for piece in (piece for line in lines for piece in opened(*line)):
            listing = self.context.in_list
            row = self._row(piece)
            if self.context.begins_report:
                yield from self.rest()  # by what their own report has told
                self.context.forget()
            if listing and not self.context.in_list and not self.context.waits:
                yield from self.rest()  # by the list that has just ended
            if self.context.waits or self._held.takes(row):
                self._held.add(row)
                if self._held.is_full:
                    self.context.waits = False
                    yield from self.rest()
                continue
            yield from self.rest()
            yield self._answered(row, row.places)

    def rest(self) -> Iterator[Line]:
        """What was held back."""
        for rows in self._held.stacks():
            told = [place for row in rows for place in row.places]
            for place in told:
                self.context.note(place)
            maps = self.context.maps
            if any(row.lacks for row in rows) and not _all_covered(maps, told):
                self.context.maps = Maps()  # they are another process's
            self._find_load_addresses(told)
            for row in rows:
                late = raw.places(row.text, self.context) if row.wants else []
                yield self._answered(row, row.places or late)
            self.context.maps = maps

    def _row(self, piece: Piece) -> Row:
        number, text, end = self._number, piece.text, piece.end
        self._number += "\n" in end
        context = self.context
        context.understood = False
        if not piece.whole or context.learn(text):
            return Row(number, text, end, "", [], piece.escape)
        kind, found = frames(text, context)
        places = [_of_program(place) for place in found]
        if places and context.interrupted:
            context.interrupted -= 1
            places[0] = replace(places[0], caller=False)
        return Row(
            number,
            text,
            end,
            kind,
            places,
            piece.escape,
            odd=not places and not context.understood and looks_like_frame(text),
            lacks=any(not context.tells(place) for place in places),
            wants=not (places or context.maps or context.waits) and raw.may_hold_addresses(text),
        )

    def _find_load_addresses(self, places: list[Place]) -> None:
        """Of the files of a stack, by its return addresses, where nothing else tells them."""
        context = self.context
        stacks: dict[str, list[int]] = {}
        links: list[int] = []
        for place in places:
            if context.tells(place) or not (place.caller or place.stepped):
                continue
            if place.offset is not None:
                links.append(place.offset + place.stepped)
            elif place.address:
                name = "" if place.program else place.module or ""
                stacks.setdefault(name, []).append(place.address + place.stepped)
        context.loaded = {}
        for name, stack in stacks.items():
            self._note_loaded(name, self.modules.loaded(name, stack, context))
        if links and "" not in context.loaded:
            found = self.modules.loaded("", links, context)
            self._note_loaded("", found if found is not None and found[1] == 0 else None)

    def _note_loaded(self, name: str, found: tuple[str, int] | None) -> None:
        if found is not None:
            self.context.loaded[name] = found

    def _answered(self, row: Row, places: list[Place]) -> Line:
        if row.odd and not places:
            self.count.add_odd(row.number)
        kind = row.kind or (raw.NAME if places else "")
        answers = tuple((each, self._answer(each)) for each in places)
        return Line(row.number, row.text, row.end, kind, answers, row.escape)

    def _answer(self, place: Place) -> Answer:
        if self._behind_trampoline and place.caller:
            place = replace(place, caller=False)
        self._behind_trampoline = place.symbol in NAMES
        self.context.note(place)
        answer = self._found(place)
        if answer.trampoline or answer.function in NAMES:
            self._behind_trampoline = True
        self.count.places += 1
        self.count.named += answer.function is not None or place.symbol is not None
        return answer

    def _found(self, place: Place) -> Answer:
        located = locate(place, self.context, self.modules)
        if located is None:
            return NOTHING
        self.count.located += 1
        module, rva = located
        return self.modules.answer(module, rva, 1 if place.caller else 0)


def _of_program(place: Place) -> Place:
    """Some writers call the program by the name that the kernel has for it."""
    if place.module is None or not _OWN_PROGRAM.match(place.module):
        return place
    return replace(place, module=None, program=True)


def _all_covered(maps: Maps, places: list[Place]) -> bool:
    """Whether the mappings are of the process on whose stack these were."""
    runtime = [each.address for each in places if each.address and each.offset is None]
    return all(maps.covers(address) for address in runtime)

"""From the lines of a log to what stands at the places in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from whocall.core.records import dataclass, replace, slotted
from whocall.resolve.facts.place import NOTHING, Answer, Place
from whocall.resolve.formats.known import READERS
from whocall.resolve.locating import locate
from whocall.resolve.trampolines import NAMES

if TYPE_CHECKING:
    from whocall.resolve.facts.context import Context
    from whocall.resolve.modules import Modules

_MOST_HELD_LINES = 20_000
_MOST_HELD_TEXT = 4 << 20  # characters


@slotted
@dataclass(frozen=True)
class Line:
    """A line of a log, and what was found in it."""

    number: int  # from 1
    text: str
    end: str  # "\\n", "\\r\\n", or "" for a piece of a line
    kind: str  # of log; "" where nothing was found
    places: tuple[tuple[Place, Answer], ...]


class Resolver:
    """Reads one log."""

    def __init__(self, context: Context, modules: Modules) -> None:
        self.context = context
        self.modules = modules
        self.places = 0  # found in all lines
        self.located = 0  # those of them of which the file is known by name
        self._number = 1
        self._held: list[tuple[int, str, str, str, list[Place]]] = []
        self._held_text = 0
        self._behind_trampoline = False  # the next frame is one that a signal interrupted
        self._bare: list[int] = []  # return addresses of a stack of which no line tells the file

    def read(self, lines: Iterable[tuple[str, str, bool]]) -> Iterator[Line]:
        """What the lines hold; those for which later ones are needed come with these."""
        for text, end, whole in lines:
            kind, places = self._places(text) if whole else ("", [])
            if self.context.begins_report:
                yield from self.rest()  # by what their own report has told
                self.context.forget()
            number = self._number
            self._number += "\n" in end
            if self.context.waits or self._is_of_bare_stack(text, places):
                self._held.append((number, text, end, kind, places))
                self._held_text += len(text)
                if len(self._held) < _MOST_HELD_LINES and self._held_text < _MOST_HELD_TEXT:
                    continue
                self.context.waits = False
                yield from self.rest()
                continue
            yield from self.rest()
            yield self._answered(number, text, end, kind, places)

    def rest(self) -> Iterator[Line]:
        """What was held back."""
        if self._bare:
            self.context.loaded = self.modules.loaded_program(self._bare, self.context.program)
            self._bare = []
        held, self._held, self._held_text = self._held, [], 0
        for number, text, end, kind, places in held:
            yield self._answered(number, text, end, kind, places)

    def _is_of_bare_stack(self, text: str, places: list[Place]) -> bool:
        """Whether the line belongs to a stack whose addresses all have to be seen to tell where the
        program lies.
        """
        if self.context.maps:
            return False
        bare = [each.address for each in places if each.module is None and each.caller]
        self._bare += [address for address in bare if address]
        return bool(self._bare) and (bool(bare) or text.lstrip().startswith("at "))

    def _places(self, text: str) -> tuple[str, list[Place]]:
        if self.context.learn(text):
            return "", []
        for kind, read in READERS:
            places = read(text, self.context)
            if places and self.context.interrupted:
                self.context.interrupted = False
                places[0] = replace(places[0], caller=False)
            if places:
                return kind, places
        return "", []

    def _answered(self, number: int, text: str, end: str, kind: str, places: list[Place]) -> Line:
        return Line(number, text, end, kind, tuple((each, self._answer(each)) for each in places))

    def _answer(self, place: Place) -> Answer:
        if self._behind_trampoline and place.caller:
            place = replace(place, caller=False)
        self._behind_trampoline = False
        self.context.note(place)
        self.places += 1
        located = locate(place, self.context, self.modules)
        if located is None:
            return NOTHING
        self.located += 1
        module, rva = located
        answer = self.modules.answer(module, rva, 1 if place.caller else 0)
        if answer.trampoline or answer.function in NAMES:
            self._behind_trampoline = True
        return answer

"""Names of code that is no frame: targets of calls, words of the stack.

There are thousands of them, so they are named by what is at hand, the functions of the frames and
the symbols of the files; no file is looked through for them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from whocall.base.model import marked
from whocall.report.form.jsonform import Json

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage


class CodeNames:
    """Names by runtime address."""

    def __init__(self, image: ProcessImage, places: Iterable[Json]) -> None:
        self._image = image
        self._known: dict[int, str | None] = {}
        found = {}
        for place in places:
            if place["function"] is None or place["offset"] is None or place["inlined"]:
                continue
            pc = int(place["pc"], 16)
            start = pc - place["offset"]
            if start not in found:
                at = pc if pc == start else pc - 1
                size = image.native.describe(at, lines=False, refused=False).size
                name = marked(place["function"], place["inferred"])
                found[start] = (start + (size or place["offset"] + 1), name)
        self._starts = sorted(found)
        self._functions = found

    def at(self, address: int) -> str | None:
        """`main`, `main+14`; None where no name is at hand."""
        if address not in self._known:
            self._known[address] = self._look(address)
        return self._known[address]

    def _look(self, address: int) -> str | None:
        at = bisect_right(self._starts, address) - 1
        if at >= 0:
            start = self._starts[at]
            end, name = self._functions[start]
            if address < end:
                return f"{name}+{address - start}" if address != start else name
        symbol = self._image.native.symbol_at(address)
        if symbol is None:
            return None
        name, offset = symbol
        return f"{name}+{offset}" if offset else name

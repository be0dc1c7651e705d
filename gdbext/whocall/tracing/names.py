"""What functions and call sites of a trace are called."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from whocall.base.model import marked
from whocall.base.process_image import ProcessImage
from whocall.base.records import dataclass

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native


@dataclass(frozen=True)
class TraceNames:
    """Texts by runtime address."""

    functions: dict[int, str]  # by first byte: "work(int)", "open [libc.so.6]"
    call_sites: dict[int, str]  # by return address: "main at prog.c:12", "qsort+0x4f [libc.so.6]"
    callers: dict[int, str]  # the same without the place in the function
    modules: dict[int, str]  # of functions: the path of their file; "" in none
    sizes: dict[int, int]  # of functions, bytes; those that are known
    homes: dict[int, int]  # of functions and call sites: where the function around them begins


def no_names() -> TraceNames:
    """Of nothing yet."""
    return TraceNames({}, {}, {}, {}, {}, {})


class Namer:
    """Asks the image, each address once."""

    def __init__(self, image: ProcessImage, demangle: bool = True) -> None:
        self._image = image
        self._demangle = demangle
        self._own = image.executables()

    def place(self, address: int) -> native.Place:
        """What stands at a runtime address."""
        return self._image.native.describe(address, demangle=self._demangle, refused=False)

    def _behind(self, place: native.Place) -> str:
        """The file, where it is not the program's own."""
        if place.module is None:
            return " [no module]"
        return "" if place.module in self._own else f" [{PurePath(place.module).name}]"

    def function(self, place: native.Place, inside: bool = False) -> str:
        """`work(int)`, `sub_1139 [libplugin.so]`; the address where nothing is known. `inside`: it
        may stand for the function that it lies in.
        """
        if place.function is None:
            return f"{place.address:#x}{self._behind(place)}"
        offset = f"+{place.offset:#x}" if place.offset and not inside else ""
        return f"{marked(place.function, place.inferred)}{offset}{self._behind(place)}"

    def caller(self, place: native.Place) -> str:
        """The function around a call, which may be inlined where it stands."""
        if place.lines and place.lines[0][0]:
            return f"{place.lines[0][0]}{self._behind(place)}"
        if place.function is None:
            return f"{place.address + 1:#x}{self._behind(place)}"
        return f"{marked(place.function, place.inferred)}{self._behind(place)}"

    def call_site(self, place: native.Place) -> str:
        """The same with the line of the call, or with the offset of what it returns to."""
        caller = self.caller(place)
        if place.lines:
            _, file, line = place.lines[0]
            return f"{caller} at {PurePath(file).name}:{line}"
        if place.function is None:
            return caller
        name = marked(place.function, place.inferred)
        return f"{name}+{(place.offset or 0) + 1:#x}{self._behind(place)}"


def names_of(
    image: ProcessImage,
    functions: Iterable[int],
    call_sites: Iterable[int],
    demangle: bool = True,
    *,
    inside: bool = False,
    known: TraceNames | None = None,
) -> TraceNames:
    """The texts of runtime addresses: first bytes of functions (`inside`: or where their hooks are,
    of which nobody knows how far behind that they stand), and return addresses. Those that are
    `known` stay, and are told beside the others.
    """
    namer = Namer(image, demangle)
    found = known or no_names()
    for address in set(functions) - found.functions.keys():
        place = namer.place(address)
        found.functions[address] = namer.function(place, inside)
        found.modules[address] = place.module or ""
        if place.offset is not None:
            found.homes[address] = address - place.offset
        if place.size is not None and (inside or not place.offset):
            found.sizes[address] = place.size
    for address in set(call_sites) - found.call_sites.keys():
        place = namer.place(address - 1 if address else 0)
        if place.offset is not None:
            found.homes[address] = address - 1 - place.offset
        found.callers[address] = namer.caller(place)
        found.call_sites[address] = namer.call_site(place)
    return found

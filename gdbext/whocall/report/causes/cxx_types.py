"""C++'s types at run time, by the descriptions that programs keep of them (RTTI).

They describe themselves, so that no symbol is needed: a description begins with a vtable's address,
in front of which stands the description of its own class, and the names of those classes are the
ABI's. What does not end at one of these is no description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whocall.base.named_tuples import NamedTuple
from whocall.base.native_module import native
from whocall.report.causes.scene import Scene
from whocall.report.causes.texts import c_text_at, number_in

_ABI = "N10__cxxabiv1"
_ONE_BASE, _BASES = f"{_ABI}20__si_class_type_infoE", f"{_ABI}21__vmi_class_type_infoE"
_CLASSES = frozenset(
    {
        *(_ONE_BASE, _BASES, f"{_ABI}17__class_type_infoE", f"{_ABI}16__enum_type_infoE"),
        *(f"{_ABI}23__fundamental_type_infoE", f"{_ABI}19__pointer_type_infoE"),
        *(f"{_ABI}17__array_type_infoE", f"{_ABI}20__function_type_infoE"),
        f"{_ABI}29__pointer_to_member_type_infoE",
    }
)
_EXCEPTION = "St9exception"
_MANGLED = re.compile(r"[A-Za-z0-9_.$]+\Z")
_LONGEST = 2048  # bytes of a mangled name
_MOST_BASES, _MOST_TYPES = 64, 256
_VIRTUAL, _PUBLIC = 1, 2  # flags of a base; above them its place


class Type(NamedTuple):
    """A description."""

    address: int
    mangled: str
    described_as: str  # the name of the description's class

    @property
    def name(self) -> str:
        """`std::runtime_error`."""
        told = native.demangle(f"_ZTS{self.mangled}")
        return told.removeprefix("typeinfo name for ")


def _is_of_a_file(scene: Scene, address: int) -> bool:
    """Whether memory is mapped there that is not writable, or is a file's."""
    mapping = scene.mapping_at(address)
    return mapping is not None and ("w" not in mapping[2] or bool(mapping[3]))


def _own_name(scene: Scene, address: int) -> str | None:
    """The mangled name that a description holds."""
    begin = scene.image.word_at(address + scene.image.pointer_size)
    if not begin or not _is_of_a_file(scene, begin):
        return None
    name = c_text_at(scene.image, begin, _LONGEST)
    name = None if name is None else name.removeprefix("*")  # of a type in one file alone
    return name if name is not None and _MANGLED.match(name) else None


def type_at(scene: Scene, address: int) -> Type | None:
    """The type that is described there."""
    word = scene.image.pointer_size
    vtable = scene.image.word_at(address) if address % word == 0 else None
    own = scene.image.word_at(vtable - word) if vtable else None
    described_as = _own_name(scene, own) if own else None
    name = _own_name(scene, address) if described_as in _CLASSES else None
    return None if name is None or described_as is None else Type(address, name, described_as)


def _signed(scene: Scene, value: int) -> int:
    bits = 8 * scene.image.pointer_size
    return value - (1 << bits) if value >> (bits - 1) else value


def _bases(scene: Scene, kind: Type, at: int) -> Iterator[tuple[Type, int]]:
    """The public bases of a type, each with where it lies in the object at an address."""
    word, image = scene.image.pointer_size, scene.image
    described = kind.address + 2 * word
    if kind.described_as == _ONE_BASE:
        base = type_at(scene, image.word_at(described) or 0)
        if base is not None:
            yield base, at
    if kind.described_as != _BASES:
        return
    count = number_in(image, image.read(described + 4, 4))
    for number in range(min(count, _MOST_BASES)):
        entry = described + 8 + number * 2 * word
        base, flags = type_at(scene, image.word_at(entry) or 0), image.word_at(entry + word)
        if base is None or flags is None or not flags & _PUBLIC:
            continue
        place: int | None = _signed(scene, flags) >> 8
        if flags & _VIRTUAL and place is not None:
            place = image.word_at((image.word_at(at) or 0) + place)  # the vtable tells
        if place is not None:
            yield base, image.wrapped(at + _signed(scene, place))


def exception_in(scene: Scene, kind: Type, at: int) -> int | None:
    """Where in the object at an address its std::exception lies; None without one, or with more."""
    found, left, seen = set[int](), [(kind, at)], 0
    while left and seen < _MOST_TYPES:
        kind, at = left.pop()
        seen += 1
        if kind.mangled == _EXCEPTION:
            found.add(at)
        else:
            left += _bases(scene, kind, at)
    return found.pop() if len(found) == 1 and not left else None

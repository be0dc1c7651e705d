"""The text of a Go panic, out of the frame of runtime.gopanic.

Before a program ends, the runtime turns the value that was panicked with into a string, and keeps
it where that value was: an interface, the address of a type and that of a string's header. That the
type is Go's `string` is read from its description: its kind, and its name, whose place is counted
from the start of all types. As a rule the read-only segment begins there; in Go 1.27 they have a
section of their own behind the function table, and the runtime's struct moduledata tells where. A
number, or a truth value, stays what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whocall.report.causes.constants import handed_over
from whocall.report.causes.scene import Fact, Scene
from whocall.report.causes.texts import text_at

LONGEST = 4096  # bytes that are shown
# Bytes that are searched for the start of all types, and how often what is looked for may come.
_LARGEST = 1 << 26
_MOST = 64
_MOST_TYPES = 8  # that are strings by another name
_KIND_STRING = 24
_BASIC = {
    **dict(enumerate(b"bool int int8 int16 int32 int64".split(), 1)),
    **dict(enumerate(b"uint uint8 uint16 uint32 uint64 uintptr".split(), 7)),
    _KIND_STRING: b"string",
}  # of Go's own types the names, by the numbers of their kinds
# What the runtime calls of itself when nobody has recovered.
_FATAL = "runtime.fatalpanic"
_HANDS_ON = re.compile(
    r"\A(?:(?:internal/)?sync|internal/runtime/maps|crypto/rand|crypto/internal/(?:sysrand|fips140))"
    r"\.(?:fatal|throw)\Z"
)
_STARRED = 2  # in tflag: the name stands with a star before it
# In the description of a type, bytes from its start, on 64-bit machines.
_TFLAG, _KIND, _NAME, _SIZE = 20, 23, 40, 48


def _number(data: bytes, scene: Scene) -> int:
    return int.from_bytes(data, "big" if scene.image.byte_order == "big" else "little")


def _is_named(scene: Scene, address: int, place: int, name: bytes) -> bool:
    """Whether that is the name of a type, `place` bytes behind the start of all types."""
    mapping = scene.mapping_at(address)
    if mapping is None or "w" in mapping[2]:
        return False
    stored = bytes([len(name)]) + name  # behind a byte of flags
    begin, end = mapping[:2]
    if scene.image.read(begin + place + 1, len(stored)) == stored:
        return True
    return _lies_behind(scene, mapping, address, place, stored)


def _lies_behind(
    scene: Scene, mapping: tuple[int, int, str, str], address: int, place: int, stored: bytes
) -> bool:
    """Whether the bytes lie `place` and a byte behind a start of all types at `address` or below.

    Folklore. Situation: the types do not begin the segment. Example: Go 1.27's .go.type. Remedy: of
    the names of that spelling it is the one for which the program's data hold the start.
    """
    begin, end, _, path = mapping
    texts = scene.image.read(begin, min(end - begin, _LARGEST))
    data = _data(scene, path, begin)
    found = -1
    for _ in range(_MOST):
        found = texts.find(stored, found + 1)
        if found < 0:
            return False
        start = begin + found - 1 - place
        if begin <= start <= address and any(_holds(part, start, scene) for part in data):
            return True
    return False


def _data(scene: Scene, path: str, without: int) -> list[bytes]:
    """What the file's mappings hold that are no code, but for the one at `without`."""
    left, found = _LARGEST, []
    for each in scene.mappings_of(path):
        if each.begin != without and "x" not in each.permissions:
            found.append(scene.image.read(each.begin, min(each.end - each.begin, left)))
            left -= len(found[-1])
    return found


def _holds(data: bytes, address: int, scene: Scene) -> bool:
    """Whether one of the words is that address."""
    word = address.to_bytes(8, "big" if scene.image.byte_order == "big" else "little")
    found = -1
    for _ in range(_MOST):
        found = data.find(word, found + 1)
        if found < 0 or found % 8 == 0:
            return found >= 0
    return False


def _basic(scene: Scene, address: int, others: set[int]) -> int | None:
    """The kind of the type, where it is one of Go's own; `others` holds types that are of such a
    kind by another name.
    """
    description = scene.image.read(address, _SIZE)
    if len(description) < _SIZE:
        return None
    kind = description[_KIND] & 31
    if kind not in _BASIC or address in others or len(others) == _MOST_TYPES:
        return None
    name = b"*" * bool(description[_TFLAG] & _STARRED) + _BASIC[kind]
    if _is_named(scene, address, _number(description[_NAME : _NAME + 4], scene), name):
        return kind
    others.add(address)
    return None


def _text(scene: Scene, kind: int, place: int) -> str | None:
    """What the runtime prints of a value of that kind, which lies at an address."""
    if kind == _KIND_STRING:
        begin, size = scene.image.word_at(place), scene.image.word_at(place + 8)
        if begin is None or size is None or not 0 < size < 1 << 24:
            return None
        data = scene.image.read(begin, min(size, LONGEST))
        return data.decode("utf-8", "surrogateescape") if len(data) == min(size, LONGEST) else None
    name = _BASIC[kind].decode()
    size = int(name.lstrip("uint") or 64) // 8 if name not in ("bool", "uintptr") else 8
    data = scene.image.read(place, 1 if name == "bool" else size)
    if len(data) < (1 if name == "bool" else size):
        return None
    value = _number(data, scene)
    if name == "bool":
        return {0: "false", 1: "true"}.get(value)
    is_negative = not name.startswith("u") and value >> (8 * size - 1)
    return str(value - (1 << 8 * size) if is_negative else value)


def _fatal(scene: Scene) -> Iterator[Fact]:
    """What the runtime gave up of itself for: `fatal error: concurrent map writes`."""
    level = scene.level_of("runtime.throw", "runtime.fatal")
    if level is None or scene.level_of("runtime.fatalthrow") is None:
        return
    # Folklore. Situation: packages of the library hand the text on. Example: sync.fatal, and since
    # Go 1.24 internal/runtime/maps.fatal. Remedy: who calls the outermost of them knows it.
    while level + 1 < len(scene.functions) and _HANDS_ON.search(scene.functions[level + 1] or ""):
        level += 1
    begin, size = (*handed_over(scene, level + 1, go=True), None, None)[:2]
    if begin and size and scene.is_constant(begin):
        text = text_at(scene.image, begin, size)
        if text is not None:
            yield Fact(
                "panic",
                f"Go's runtime gave up: fatal error: {text}",
                f"the code of #{level + 1} hands it to #{level}, {scene.functions[level]}",
                said=f"fatal error: {text}",
            )


def _values(scene: Scene, begin: int, end: int) -> Iterator[tuple[int, str, bool]]:
    """The values of Go's own types that words of the frame refer to as interfaces do: where, what
    is printed of them, and whether they are strings.
    """
    others = set[int]()
    for address in range(begin, end - 8, 8):
        kind, header = scene.image.word_at(address), scene.image.word_at(address + 8)
        # Folklore. Situation: another copy of the type lies right below the runtime's struct for
        # the panic. Example: Go 1.24 spills it there; the struct begins with the address where the
        # arguments of deferred calls lie, in this frame. Remedy: strings in interfaces never do.
        # Go 1.27 spills it below one more copy: no value lies where its type does.
        own = header is not None and (begin <= header < end or header == kind)
        basic = _basic(scene, kind, others) if kind and header and not own else None
        text = None if basic is None or header is None else _text(scene, basic, header)
        if text is not None:
            yield address, text, basic == _KIND_STRING


def go(scene: Scene) -> Iterator[Fact]:
    """The panic that ended the program."""
    level = scene.level_of("runtime.gopanic")
    if scene.level_of(_FATAL) is None:  # deferred functions run, and may recover
        yield from _fatal(scene)
        return
    extent = None if level is None else scene.stack_of(level)
    if level is None or extent is None or scene.image.pointer_size != 8:
        return
    found = list(_values(scene, *extent))
    strings = [each for each in found if each[2]]
    if strings or len({text for _, text, _ in found}) == 1:
        address, text, _ = (strings or found)[0]
        yield Fact(
            "panic",
            f"a panic was not recovered: {text}",
            f"the value that #{level} runtime.gopanic holds at {address:#x}",
            said=text,
        )

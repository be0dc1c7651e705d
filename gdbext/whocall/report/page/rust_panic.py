"""The text of a Rust panic, out of the frames of the standard library's panic handler.

The handler's closure holds what is told: a String that was formatted (a pointer, a length and a
capacity, in an order that the compiler chooses), or the literal itself (a pointer and a length);
and frames around it a pointer to the place, `Location` (file, line, column).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whocall.core.printable import printable
from whocall.report.page.scene import Fact, Scene

LONGEST = 4096  # bytes that are shown
_LARGEST = 1 << 20  # of a message, bytes
_HANDLER = re.compile(r"panicking::(begin_)?panic(_handler)?(::<.*>)?::\{+closure")
_LAID_OUT = {ord("\n"): " ", ord("\t"): " "}
_MACHINERY = re.compile(r"panic_with_hook|rust_begin_unwind|panicking::panic_fmt|panic_handler")


def _decoded(scene: Scene, begin: int, size: int) -> str | None:
    """The text there, when all of it is one."""
    data = scene.image.read(begin, size)
    if len(data) < size:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    shown = text.translate(_LAID_OUT)
    return text if printable(shown) == shown else None


def _words(scene: Scene, level: int) -> list[tuple[int, int]]:
    """(address, value) of the frame's words."""
    extent = scene.stack_of(level)
    if extent is None:
        return []
    size = scene.image.word_size
    found = ((at, scene.image.word_at(at)) for at in range(extent[0], extent[1], size))
    return [(at, value) for at, value in found if value is not None]


def _string(scene: Scene, words: list[tuple[int, int]]) -> tuple[int, str] | None:
    """A String among the words: where it lies, and its text."""
    for at in range(len(words) - 2):
        three = words[at : at + 3]
        pointers = [value for _, value in three if scene.is_writable(value)]
        numbers = [value for _, value in three if value < _LARGEST]
        if len(pointers) != 1 or len(numbers) != 2 or not min(numbers) > 0:
            continue
        text = _decoded(scene, pointers[0], min(*numbers, LONGEST))
        if text:
            return three[0][0], text
    return None


def _literal(scene: Scene, words: list[tuple[int, int]]) -> tuple[int, str] | None:
    """A string slice among the words, of text that is part of the program."""
    for (at, begin), (_, size) in zip(words, words[1:]):
        mapping = scene.mapping_at(begin)
        if mapping is not None and mapping[2] == "r--" and 0 < size < _LARGEST:
            text = _decoded(scene, begin, min(size, LONGEST))
            if text:
                return at, text
    return None


def _place(scene: Scene, level: int) -> str:
    """` at src/main.rs:4:9`, from the first frame of the machinery around that has one."""
    for near in range(max(level - 1, 0), min(level + 6, len(scene.functions))):
        if not _MACHINERY.search(scene.functions[near]):
            continue
        for _, value in _words(scene, near):
            data = scene.image.read(value, 24) if scene.image.pointer_size == 8 else b""
            if len(data) < 24 or scene.is_writable(value):
                continue
            order = "big" if scene.image.byte_order == "big" else "little"
            ends = (0, 8, 16, 20, 24)
            begin, size, line, column = (
                int.from_bytes(data[a:b], "big" if order == "big" else "little")
                for a, b in zip(ends, ends[1:])
            )
            file = _decoded(scene, begin, size) if 3 < size < 1024 else None
            if file is not None and file.endswith(".rs"):
                return f" at {file}:{line}:{column}"
    return ""


def rust(scene: Scene) -> Iterator[Fact]:
    """The panic that ended the program."""
    handler = (at for at, name in enumerate(scene.functions) if _HANDLER.search(name))
    for level in handler:
        words = _words(scene, level)
        found = _string(scene, words) or _literal(scene, words)
        if found is not None:
            address, text = found
            yield Fact(
                "panic",
                f"it panicked{_place(scene, level)}: {text}",
                f"the text that #{level}, the handler of panics, holds at {address:#x}",
            )
            return

"""What an aborting program said: the C library's complaint or the assertion.

glibc keeps the sentence for debuggers. Other C libraries keep none, and a stripped static program
does not tell where: then pointers to the sentence may lie in the frames inside abort(), and the
sentence is recognised by its words. (With glibc that alone would not do: in 2.41 assert() leaves
no pointer to its sentence in those frames.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whocall.report.causes.c_library import kept_by_glibc

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.report.causes.scene import Scene

_MOST_WORDS = 4096
_TEXT = 400  # bytes
_ALLOCATOR = (
    rb"(free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate|unlink_chunk|sysmalloc"
    rb"|tcache_\w+|_int_\w+)(\(\))?: [a-z][^\n]+"
)
_KNOWN = re.compile(
    rb"[^\n]*(Assertion [`'][^\n]* failed|" + _ALLOCATOR + rb"|corrupted [a-z][^\n]*"
    rb"|double free or corruption[^\n]*|\*\*\* [a-z][^\n]* detected \*\*\*"
    rb"|(stack smashing|buffer overflow) detected|invalid fastbin entry[^\n]*"
    rb"|pure virtual method called|terminate called[^\n]*|break adjusted to free malloc space)"
)
_ASSERTION = re.compile(r"(?:[^:]*: )?(.*?):\d+: (.*?): Assertion [`'](.*)' failed")


def message_of(scene: Scene, begin: int, end: int) -> str | None:
    """The sentence that the C library keeps, or that words of the stack from `begin` to `end` point
    to; None without one.
    """
    kept = kept_by_glibc(scene)
    return kept.text if kept is not None else on_the_stack(scene.image, begin, end)


def on_the_stack(image: ProcessImage, begin: int, end: int) -> str | None:
    """The longest sentence that words of the stack from `begin` to `end` point to."""
    size = image.pointer_size
    data = image.read(begin, max(0, min(end - begin, _MOST_WORDS * size)))
    order = "big" if image.byte_order == "big" else "little"
    best = None
    for at in range(0, len(data) - size + 1, size):
        pointer = int.from_bytes(data[at : at + size], order)  # type: ignore[arg-type]
        if pointer < 4096:
            continue
        text = image.read(pointer, _TEXT)
        for start in (0, 4):  # the C library's own note of it begins with its size
            found = _KNOWN.match(text[start:].partition(b"\0")[0])
            if found is None or b"%s" in found[0]:
                continue
            if best is None or len(found[0]) > len(best):
                best = found[0]
    return best.decode("utf-8", "surrogateescape").strip() if best else None


def normal(message: str | None) -> str:
    """The message as it stays from build to build: without lines of the source and numbers."""
    if not message:
        return ""
    asserted = _ASSERTION.search(message)
    if asserted is not None:
        file = asserted[1].rpartition("/")[2]
        return f"{file}: {asserted[2]}: {asserted[3]}"
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "N", message)

"""What an aborting program said: the C library's complaint or the assertion, out of the stack.

While abort() runs, pointers to the sentence lie in the frames of most C libraries; the sentence
itself is recognised by its words. Where the library keeps it for debuggers (glibc), that is asked
first: from glibc 2.41 on its frames hold no pointer to it any more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage

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


def message_of(image: ProcessImage, begin: int, end: int) -> str | None:
    """The sentence that words of the stack from `begin` to `end` point to; None without one."""
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
    return best.decode("utf-8", "replace").strip() if best else None


def normal(message: str | None) -> str:
    """The message as it stays from build to build: without lines of the source and numbers."""
    if not message:
        return ""
    asserted = _ASSERTION.search(message)
    if asserted is not None:
        file = asserted[1].rpartition("/")[2]
        return f"{file}: {asserted[2]}: {asserted[3]}"
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "N", message)

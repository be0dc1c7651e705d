"""Texts in a process's memory, as far as all that is there is one."""

from __future__ import annotations

import codecs

from whocall.base.printable import printable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

LONGEST = 4096  # bytes that are shown
LARGEST = 1 << 20  # of a text, bytes
_LAID_OUT = {ord(each): " " for each in "\n\t\r"}


def as_text(data: bytes, whole: bool = True) -> str | None:
    """The UTF-8 text that the bytes are, when all of it can be seen or lays it out. One that is not
    `whole` may end within a character.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, whole)
    except UnicodeDecodeError:
        return None
    seen = text.translate(_LAID_OUT)
    return text if text and printable(seen) == seen else None


def text_at(image: ProcessImage, begin: int, size: int) -> str | None:
    """The text of that size at an address, LONGEST bytes of it at most."""
    if not 0 < size < LARGEST:
        return None
    wanted = min(size, LONGEST)
    data = image.read(begin, wanted)
    return as_text(data, wanted == size) if len(data) == wanted else None


def c_text_at(image: ProcessImage, begin: int, most: int = LONGEST) -> str | None:
    """The text at an address that ends with a byte of zero; the first `most` bytes of it."""
    data = image.read(begin, most)
    text, end, _ = data.partition(b"\0")
    return as_text(text, bool(end)) if end or len(data) == most else None


def number_in(image: ProcessImage, data: bytes) -> int:
    """The number that the process has in these bytes."""
    return int.from_bytes(data, "big" if image.byte_order == "big" else "little")

"""Messages between gdb and its helper: a kind, and bytes, one behind the other in a pipe.

What the helper says is data: a kind that is none, a size beyond the limit or text that is no UTF-8
is no message, and means that the helper is to be ended.
"""

from __future__ import annotations

import os
import select
import struct

from whocall.base.errors import Error

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 1 << 29  # bytes of a message, and of all files that an answer hands over
_HEAD = struct.Struct("<cI")
_PIECE = 1 << 20

# Of what the helper says.
TEXT, LINES_OF_JSON, WARNING, LINE, FETCHED, CONTENTS = b"t", b"j", b"w", b"l", b"f", b"c"
DONE, REFUSED, MISUSED, SHORT_OF_MEMORY, WANTS_THREADS = b"d", b"r", b"u", b"m", b"n"
INTERRUPTED = b"i"
KINDS = {
    *(TEXT, LINES_OF_JSON, WARNING, LINE, FETCHED, CONTENTS),
    *(DONE, REFUSED, MISUSED, SHORT_OF_MEMORY, WANTS_THREADS, INTERRUPTED),
}
ENDS = {DONE, REFUSED, MISUSED, SHORT_OF_MEMORY, WANTS_THREADS, INTERRUPTED}

# Of what gdb says.
QUESTION = b"q"


class ChannelEndError(Exception):
    """The other process has ended, or says what it cannot mean."""


class Channel:
    """Both directions, as one of the two has them."""

    def __init__(self, to_read: int, to_write: int) -> None:
        self._to_read, self._to_write = to_read, to_write
        self._bytes = bytearray()

    @property
    def descriptors(self) -> tuple[int, int]:
        """Of the pipes."""
        return self._to_read, self._to_write

    def hang_up(self) -> None:
        """Says nothing more, which the other one hears."""
        if self._to_write >= 0:
            os.close(self._to_write)
            self._to_write = -1

    def close(self) -> None:
        """Both pipes."""
        self.hang_up()
        os.close(self._to_read)

    def say(self, kind: bytes, contents: bytes) -> None:
        """Raises ChannelEndError where nobody is there."""
        if len(contents) > LARGEST:
            raise Error(f"whocall's helper may say {LARGEST >> 20} MiB at a time, and that is more")
        rest = memoryview(_HEAD.pack(kind, len(contents)) + contents)
        try:
            while rest:
                rest = rest[os.write(self._to_write, rest) :]
        except OSError as error:
            raise ChannelEndError from error

    def hear(
        self, kinds: set[bytes], wait: Callable[[int], None] | None = None
    ) -> tuple[bytes, bytes]:
        """The next message, one of `kinds`; `wait` returns when there is something to read. Raises
        ChannelEndError.
        """
        self._fill(_HEAD.size, wait)
        kind, size = _HEAD.unpack_from(self._bytes)
        if kind not in kinds or size > LARGEST:
            raise ChannelEndError
        end = _HEAD.size + size
        self._fill(end, wait)
        contents = bytes(self._bytes[_HEAD.size : end])
        del self._bytes[:end]  # at once: Ctrl-C may come between any two
        return kind, contents

    def _fill(self, size: int, wait: Callable[[int], None] | None) -> None:
        while len(self._bytes) < size:
            if wait is not None:
                wait(self._to_read)
            piece = os.read(self._to_read, _PIECE)
            if not piece:
                raise ChannelEndError
            self._bytes += piece


def has_something(descriptor: int, seconds: float) -> bool:
    """Whether there is something to read, or the other one has gone."""
    poll = select.poll()  # which knows descriptors of any number
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))

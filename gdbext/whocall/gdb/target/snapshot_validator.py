"""Tells whether the image of a live program is still valid: all that it was made of is read again.

Most changes of a program come with an event of gdb's, but `return`, `restore`, `load`, `monitor`,
`restart` and `record goto` come with none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Reader = Callable[[int, int], bytes]


class SnapshotValidator:
    """A reader of memory that remembers what it gave, and the states of the image's threads."""

    def __init__(self, read: Reader, threads: Mapping[int, object]) -> None:
        """`threads` are their registers by gdb's number."""
        self.threads = threads
        self._read = read
        self._given: dict[tuple[int, int], int] = {}  # hashes by address and size
        self._whole = True

    def read(self, address: int, size: int) -> bytes:
        """Up to `size` bytes."""
        try:
            data = self._read(address, size)
        except BaseException:  # Ctrl-C: who asked may have kept that there is nothing to read
            self._whole = False
            raise
        self._given[address, size] = hash(data)
        return data

    def holds(self, threads: Mapping[int, object]) -> bool:
        """Whether these threads are in the image, and they and all memory that was given are as
        they were.
        """
        return (
            self._whole
            and all(self.threads.get(number) == state for number, state in threads.items())
            and all(hash(self._read(*place)) == given for place, given in self._given.items())
        )

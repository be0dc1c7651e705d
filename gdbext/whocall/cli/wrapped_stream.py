"""A stream that stands before another one."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def innermost(stream: Any) -> Any:
    """The stream that others stand before."""
    while isinstance(stream, Passing):
        stream = stream.stream
    return stream


class Passing:
    """Passes all on; those that stand before a terminal have a `write` of their own."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Returns how many characters were written."""
        count: int = self.stream.write(text)
        return count

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

"""The values that words of a command line become, by the kinds in the table of commands."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from types import SimpleNamespace
    from typing import Any, Union

    from whocall.commands.table import Parameter

    Values = Union[argparse.Namespace, SimpleNamespace]


def _as_count(text: str) -> int:
    count = int(text)
    if count == 0:
        raise ValueError
    return count


def _as_limit(text: str) -> int:
    limit = int(text)
    if limit < 0:
        raise ValueError
    return limit


_as_count.__name__ = "COUNT"  # what argparse calls it in complaints
_as_limit.__name__ = "N"
_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int, "limit": _as_limit, "count": _as_count
}  # fmt: skip


def reader_of(argument: Parameter) -> Callable[[str], Any] | None:
    """Makes its value of a word, or raises ValueError; None where the word is the value."""
    if argument.kind != "choice":
        return _READERS.get(argument.kind)

    def chosen(text: str) -> str:
        if text not in argument.suggests:
            raise ValueError
        return text

    chosen.__name__ = "|".join(argument.suggests)
    return chosen


def default_of(argument: Parameter) -> Any:
    """Its value where it is not given."""
    return list(argument.default) if isinstance(argument.default, tuple) else argument.default

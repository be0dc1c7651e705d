"""Parses the words of a command where they are plain, as nearly always, without argparse.

Plain is what has one meaning only: whole names of options, each with its value in a word of its
own, and as many other words as the command takes. All else, help and mistakes too, is argparse's:
then plainly() says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from whocall.commands import Parameter


def plainly(takes: Sequence[Parameter], words: Sequence[str]) -> SimpleNamespace | None:
    """The values that argparse would find for a command that takes that; None where only it can
    tell.
    """
    options = {f"--{each.name}": each for each in takes if each.is_option}
    options.update((f"-{each.short}", each) for each in takes if each.short)
    found: dict[str, Any] = {}
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word[:1] != "-":
            others.append(word)
            continue
        option = options.get(word)
        if option is not None and not option.metavar:
            found[option.kept] = True
            continue
        value = next(rest, "-")
        if option is None or value[:1] == "-" or not _take(option, value, found):
            return None
    if not _place([each for each in takes if not each.is_option], others, found):
        return None
    if not _fits(takes, found):
        return None
    return SimpleNamespace(**{**{each.kept: default_of(each) for each in takes}, **found})


def _take(option: Parameter, value: str, found: dict[str, Any]) -> bool:
    """Whether that may be its value."""
    reader = reader_of(option)
    try:
        read = value if reader is None else reader(value)
    except ValueError:
        return False
    if option.repeats:
        found.setdefault(option.kept, []).append(read)
    else:
        found[option.kept] = read
    return True


def _place(names: list[Parameter], others: list[str], found: dict[str, Any]) -> bool:
    """Gives the words that are no options their names; False when their number is another."""
    fewest = sum(not each.number for each in names)
    if names and names[-1].number == "*":
        rest = names.pop()
        found[rest.kept], others = others[len(names) :], others[: len(names)]
    optional = all(each.number in ("", "?") for each in names)
    if not optional or not fewest <= len(others) <= len(names):
        return False
    found.update((each.kept, word) for each, word in zip(names, others))
    return True


def _fits(takes: Sequence[Parameter], found: dict[str, Any]) -> bool:
    """Whether what has to be there is, and of alternatives one alone."""
    given = [each for each in takes if each.is_option and each.kept in found]
    alternatives = [each.alternative for each in given if each.alternative]
    missing = any(each.required and each.kept not in found for each in takes)
    return not missing and len(alternatives) == len(set(alternatives))


_GREATEST = (1 << 63) - 1  # number that native code takes


def _as_count(text: str) -> int:
    count = int(text)
    if count == 0 or abs(count) > _GREATEST:
        raise ValueError
    return count


def _as_limit(text: str) -> int:
    limit = int(text)
    if not 0 <= limit <= _GREATEST:
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

    chosen.__name__ = f"{argument.metavar} ({', '.join(argument.suggests)})"
    return chosen


def default_of(argument: Parameter) -> Any:
    """Its value where it is not given."""
    return list(argument.default) if isinstance(argument.default, tuple) else argument.default

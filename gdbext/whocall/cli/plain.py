"""Parses the words of a command where they are plain, as nearly always, without argparse.

Plain is what has one meaning only: whole names of options, each with its value in a word of its
own, and as many other words as the command takes. All else, help and mistakes too, is argparse's:
then parse() says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class _Group:
    """Options of which at most one may be given."""

    def __init__(self, parser: PlainParser) -> None:
        self._parser = parser
        self._names: set[str] = set()
        parser.exclusive.append(self._names)

    def add_argument(self, *names: str, **how: Any) -> None:
        self._names.add(self._parser.add_argument(*names, **how))


class PlainParser:
    """Told the arguments of a command in argparse's own way."""

    def __init__(self) -> None:
        self.description: str | None = None
        self.epilog: str | None = None
        self.formatter_class: Any = None
        self.exclusive: list[set[str]] = []
        self._options: dict[str, tuple[str, dict[str, Any]]] = {}  # the value's name, and how
        self._positionals: list[tuple[str, dict[str, Any]]] = []
        self._defaults: dict[str, Any] = {}
        self._required: set[str] = set()

    def add_mutually_exclusive_group(self) -> _Group:
        """As argparse's."""
        return _Group(self)

    def add_argument(self, *names: str, **how: Any) -> str:
        """As argparse's; returns under which name the value is kept."""
        flag = how.get("action") == "store_true"
        if names[0].startswith("-"):
            whole = next((name for name in names if name.startswith("--")), names[0])
            kept = whole.lstrip("-").replace("-", "_")
            self._options.update((name, (kept, how)) for name in names)
            if how.get("required"):
                self._required.add(kept)
        else:
            kept = names[0]
            self._positionals.append((kept, how))
        self._defaults[kept] = how.get("default", False if flag else None)
        return kept

    def parse(self, words: Sequence[str]) -> SimpleNamespace | None:
        """The values that argparse would find; None where only that can tell."""
        found: dict[str, Any] = {}
        others: list[str] = []
        rest = iter(words)
        for word in rest:
            if word[:1] != "-":
                others.append(word)
                continue
            kept, how = self._options.get(word, ("", {}))
            if how.get("action") == "store_true":
                found[kept] = True
                continue
            value = next(rest, "-")
            if not kept or value[:1] == "-":
                return None
            if how.get("action") == "append":
                found.setdefault(kept, []).append(value)
                continue
            try:
                found[kept] = how.get("type", str)(value)
            except ValueError:
                return None
        if not self._place(others, found) or not self._fits(found):
            return None
        return SimpleNamespace(**{**self._defaults, **found})

    def _place(self, others: list[str], found: dict[str, Any]) -> bool:
        """Gives the words that are no options their names; False when their number is another."""
        fewest = sum("nargs" not in how for _, how in self._positionals)
        names = list(self._positionals)
        if names and names[-1][1].get("nargs") == "*":
            rest = names.pop()[0]
            found[rest], others = others[len(names) :], others[: len(names)]
        optional = all(how.get("nargs", "?") == "?" for _, how in names)
        if not optional or not fewest <= len(others) <= len(names):
            return False
        found.update((kept, word) for (kept, _), word in zip(names, others))
        return True

    def _fits(self, found: dict[str, Any]) -> bool:
        at_once = (len(names & found.keys()) for names in self.exclusive)
        return self._required <= found.keys() and all(count < 2 for count in at_once)

"""The table as a module of Python that is all constants: nothing is faster to load."""

from __future__ import annotations

from collections import Counter
from typing import Any

from source import PACKAGE, Row, table

HOME = PACKAGE / "rows.py"
_HEAD = '''\
"""Made of commands.json by `python3 scripts/commands`: change that file, and make this anew."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

# fmt: off
'''
_ARGUMENT = (
    *("is_option", "name", "short", "metavar", "kind", "number", "repeats", "required"),
    *("default", "alternative", "hidden", "suggests", "help"),
)
_PROGRAM = ("summary", "description", "epilog", "takes")
_SHELL = (
    "summary",
    "description",
    "epilog",
    "passes_on",
    "takes",
    "keeps",
    "libraries",
    "examples",
)
_GDB = ("words", "summary", "counts", "needs_process", "takes", "help", "examples")


def _constant(value: Any) -> Any:
    """Of tuples alone, as Python makes such ones once."""
    if isinstance(value, dict):
        return tuple((key, _constant(each)) for key, each in value.items())
    return tuple(map(_constant, value)) if isinstance(value, (list, tuple)) else value


class _Rows:
    """Rows that several commands have get a name, and stand once."""

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        self._names: dict[str, str] = {}
        counts = Counter(text for _, text in rows)
        for name, text in rows:
            if counts[text] > 1 and text not in self._names:
                wanted = name.upper().replace("-", "_")
                taken = sum(each.rstrip("0123456789") == wanted for each in self._names.values())
                self._names[text] = wanted + (str(taken + 1) if taken else "")

    def definitions(self) -> str:
        """Of those with names."""
        return "".join(f"{name} = {text}\n" for text, name in self._names.items())

    def text(self, texts: list[str]) -> str:
        """The tuple of them: a line for each without a name, and for neighbours with names."""
        lines: list[str] = []
        for text in texts:
            named = self._names.get(text)
            if named and lines and lines[-1].endswith(", ") and len(lines[-1] + named) < 96:
                lines[-1] += f"{named}, "
            else:
                lines.append(f"  {named}, " if named else f"  {text},")
        return "(\n" + "".join(f"{line.rstrip()}\n" for line in lines) + " )" if lines else "()"


def _argument(row: Row) -> str:
    return repr(tuple(_constant(row[field]) for field in _ARGUMENT))


def _row(row: Row, fields: tuple[str, ...], rows: _Rows) -> str:
    """What is long has lines of its own."""
    parts = [
        rows.text([_argument(each) for each in row[field]])
        if field == "takes"
        else repr(_constant(row[field]))
        for field in fields
    ]
    return f"({', '.join(parts)})"


def text() -> str:
    """Of rows.py."""
    program, commands = table()
    worlds = [each for row in commands.values() for each in row if each is not None]
    rows = _Rows([(each["name"], _argument(each)) for row in worlds for each in row["takes"]])
    parts = [_HEAD, rows.definitions(), f"\nPROGRAM: Any = {_row(program, _PROGRAM, rows)}\n\n"]
    parts.append("COMMANDS: dict[str, Any] = {\n")
    for name, command in commands.items():
        shown = (
            "None" if row is None else _row(row, fields, rows)
            for row, fields in zip(command, (_SHELL, _GDB, _GDB))
        )
        parts.append(f"{name!r}: (\n" + "".join(f" {each},\n" for each in shown) + "),\n")
    return "".join([*parts, "}\n"])

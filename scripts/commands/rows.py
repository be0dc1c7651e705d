"""The table as modules of Python that are all constants: nothing is faster to load."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from source import PACKAGE, Row, table

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


def _dictionary(name: str, told: dict[str, Row], fields: tuple[str, ...], rows: _Rows) -> str:
    lines = "".join(f"{key!r}: {_row(row, fields, rows)},\n" for key, row in told.items())
    return f"{name}: dict[str, Any] = {{\n{lines}}}\n"


def _rows(*worlds: dict[str, Row]) -> _Rows:
    told = [row for world in worlds for row in world.values()]
    return _Rows([(each["name"], _argument(each)) for row in told for each in row["takes"]])


def texts() -> dict[Path, str]:
    """Of the modules: the command line's and gdb's have no use for each other's."""
    program, commands = table()
    shell, gdb, machine = (
        {name: row[world] for name, row in commands.items() if row[world] is not None}
        for world in range(3)
    )
    rows = _rows(shell)
    of_shell = f"PROGRAM: Any = {_row(program, _PROGRAM, rows)}\n"
    of_shell += _dictionary("SHELL", shell, _SHELL, rows)
    rows_of_gdb = _rows(gdb, machine)
    of_gdb = _dictionary("GDB", gdb, _GDB, rows_of_gdb)
    of_gdb += _dictionary("MACHINE_INTERFACE", machine, _GDB, rows_of_gdb)
    return {
        PACKAGE / "shell_rows.py": f"{_HEAD}{rows.definitions()}\n{of_shell}",
        PACKAGE / "gdb_rows.py": f"{_HEAD}{rows_of_gdb.definitions()}\n{of_gdb}",
    }

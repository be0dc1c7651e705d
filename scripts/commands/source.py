"""Reads commands.json, with its groups and texts in place; what must not stand there is refused.

A command has "shell", "gdb" or both, and "mi" where it is in gdb's machine interface, too. "takes"
of a shell's command are options and arguments in the order of the help, and names of groups;
"options" of gdb's are those that the shell's command has, by their names, or with what differs, and
others, in the order of their names. Of an option or argument:

  option, argument   its name, of the one or the other
  metavar            what its value is called; an option without one is a flag
  kind               of its value: see whocall.commands
  number             of arguments: "?", "*", "+", one without
  repeats            each time it is given its value is added to a list
  alternative        of the options with the same word here at most one may be given
  suggests           values that completion offers
  hidden             no help, page or completion tells of it

A text that is a list is lines that stay as they are; {NAME} stands for one of "texts", {epilog}
for the lines of the shell's epilog. "keeps" says what a command keeps in the sandbox beside
reading, as in whocall.cli.sandbox.Keeps, by the names of its options and arguments: {"with": [...]}
where one of some is given, {"without": [...]} where none is. "note" is for who
reads the table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext" / "whocall" / "commands"
TABLE = PACKAGE / "commands.json"
KINDS = {
    *("", "file", "folder", "module", "strategies", "function", "expression"),
    *("integer", "limit", "count", "words", "choice"),
}
_ARGUMENT = {
    "option": "", "argument": "", "short": "", "metavar": "", "kind": "", "number": "",
    "repeats": False, "required": False, "default": None, "alternative": "", "hidden": False,
    "suggests": [], "help": "", "note": "",
}  # fmt: skip
_SHELL = {
    "summary": "", "description": "", "epilog": "", "passes_on": False, "takes": [], "keeps": {},
    "libraries": {}, "examples": [], "note": "",
}  # fmt: skip
_GDB = {
    "name": "", "prefix": False, "summary": "", "options": [], "arguments": [], "counts": False,
    "needs_process": False, "help": [], "examples": [], "note": "",
}  # fmt: skip
_KEEPS = {
    *("inputs", "outputs", "folders", "folders_of", "new_folders", "caches"),
    *("gdb", "processes", "workers", "later", "note"),
}

Row = dict[str, Any]


class TableError(Exception):
    """The table says what it must not."""


def _whole(given: Row, defaults: Row, of: str) -> Row:
    unknown = given.keys() - defaults.keys()
    if unknown:
        raise TableError(f"{of}: nobody knows what {', '.join(sorted(unknown))} is")
    return {**defaults, **given}


def _argument(given: Row, of: str) -> Row:
    row = _whole(given, _ARGUMENT, of)
    row["is_option"] = bool(row["option"])
    row["name"] = row["option"] or row["argument"]
    if not row["name"] or (row["option"] and row["argument"]):
        raise TableError(f"{of}: an argument is an option or none")
    if row["kind"] not in KINDS:
        raise TableError(f"{of}: {row['name']}: there is no kind {row['kind']}")
    if row["repeats"] or row["number"] in ("*", "+"):
        row["default"] = [] if row["number"] != "+" else None
    if row["is_option"] and not row["metavar"]:
        row["default"] = False
    return row


def _expanded(takes: list[Any], groups: Row) -> list[Row]:
    found = []
    for each in takes:
        found += _expanded(groups[each], groups) if isinstance(each, str) else [each]
    return found


def _lines(lines: list[str], texts: Row, epilog: Any) -> list[str]:
    found = []
    for line in lines:
        if line == "{epilog}":
            found += epilog
        else:
            found.append(_text(line, texts))
    return found


def _text(text: Any, texts: Row) -> Any:
    if isinstance(text, str):
        for name, meaning in texts.items():
            text = text.replace("{" + name + "}", meaning)
    return text


def _shell(given: Row, of: str, texts: Row, groups: Row) -> Row:
    row = _whole(given, _SHELL, of)
    row["description"], row["epilog"] = (
        _text(row[key], texts) for key in ("description", "epilog")
    )
    row["takes"] = [_argument(each, of) for each in _expanded(row["takes"], groups)]
    names = [each["name"] for each in row["takes"]]
    if len(names) != len(set(names)):
        raise TableError(f"{of}: an option is there twice")
    if row["keeps"] == "everything":
        row["keeps"] = None
    elif row["keeps"].keys() - _KEEPS:
        raise TableError(f"{of}: the sandbox knows nothing of what it keeps")
    else:
        row["keeps"].pop("note", None)
    return row


def _gdb(given: Row, of: str, texts: Row, shell: Row | None) -> Row:
    """An option that the command line has too is named, and what differs is told."""
    row = _whole(given, _GDB, of)
    known = {} if shell is None else {each["name"]: each for each in shell["takes"]}
    options = []
    for each in row["options"]:
        named = {"option": each} if isinstance(each, str) else each
        both = {key: value for key, value in known.get(named["option"], {}).items()
                if key in _ARGUMENT}  # fmt: skip
        if isinstance(each, str) and not both:
            raise TableError(f"{of}: {each} is told nowhere")
        options.append(_argument({**both, **named}, of))
    if [each["name"] for each in options] != sorted(each["name"] for each in options):
        raise TableError(f"{of}: its options in gdb are not in the order of their names")
    row["takes"] = options + [_argument(each, of) for each in row["arguments"]]
    row["words"] = row["name"] or ("whocall" if row["prefix"] else f"whocall {of}")
    row["help"] = _lines(row["help"], texts, [] if shell is None else shell["epilog"])
    return row


def table(path: Path = TABLE) -> tuple[Row, dict[str, tuple[Row | None, Row | None, Row | None]]]:
    """The program, and each command on the command line, in gdb and in its machine interface."""
    told = json.loads(path.read_text(encoding="utf-8"))
    program = {
        **told["program"],
        "takes": [_argument(each, "") for each in told["program"]["takes"]],
    }
    commands = {}
    for each in told["commands"]:
        name = each["name"]
        if name in commands or each.keys() - {"name", "shell", "gdb", "mi"} or len(each) < 2:
            raise TableError(f"{name}: a command is there once, in a shell, in gdb or in both")
        shell = (
            _shell(each["shell"], name, told["texts"], told["groups"]) if "shell" in each else None
        )
        worlds = (
            _gdb(each[world], name, told["texts"], shell) if world in each else None
            for world in ("gdb", "mi")
        )
        commands[name] = (shell, *worlds)
    return program, commands  # type: ignore[return-value]

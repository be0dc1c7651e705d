"""The table of commands: names, words, options, examples, what each keeps in the sandbox.

Its home is commands.json, which says it to programs in other languages too. Here it is read out of
shell_rows.py and gdb_rows.py, which `python3 scripts/commands` makes of that file: parsing JSON,
and importing what does it, would take longer than the backtrace of a short stack. For the same
reason these are plain classes, and in the package's own file.

A command of the command line has a module of its name in whocall.cli.commands, one of gdb's has one
in whocall.gdb.commands: `module_name` says which.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class _Row:
    """What shell_rows.py and gdb_rows.py have without names."""

    fields: tuple[str, ...] = ()

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(self.fields, row))


class Parameter(_Row):
    """An option, or what stands by itself (`is_option` tells which). A flag has no metavar.

    Kinds of values: "" (any text), "file", "folder", "module" (of the process), "strategies" (some,
    with commas between), "function", "expression", "integer", "limit" (0 or more), "count" (not 0),
    "words" (another program's name and its words, behind "--") and "choice" (of `suggests`; else
    those are suggestions alone).
    """

    fields = (
        *("is_option", "name", "short", "metavar", "kind", "number", "repeats", "required"),
        *("default", "alternative", "hidden", "suggests", "help"),
    )
    is_option: bool
    name: str  # without dashes
    short: str  # one letter, or ""
    metavar: str
    kind: str
    number: str  # of an argument, as argparse has it: "" (one), "?", "*", "+"
    repeats: bool  # each time it is given its value is added to a list
    required: bool
    default: Any
    alternative: str  # of options with the same word here one alone may be given
    hidden: bool
    suggests: tuple[str, ...]
    help: str

    @property
    def kept(self) -> str:
        """The name of the value in Python."""
        return self.name.replace("-", "_")


class Shell(_Row):
    """A command as the command line has it. Texts that are tuples are lines, and stay so."""

    fields = (
        *("summary", "description", "epilog", "passes_on", "rows", "keeps"),
        *("libraries", "examples"),
    )
    summary: str
    description: str | tuple[str, ...]
    epilog: str | tuple[str, ...]
    passes_on: bool  # whatever follows, to another program
    rows: tuple[tuple[Any, ...], ...]
    keeps: tuple[tuple[str, Any], ...] | None  # in the sandbox; None: everything
    libraries: tuple[tuple[str, str], ...]  # modules of Python, each with what needs it
    examples: tuple[str, ...]

    @property
    def takes(self) -> list[Parameter]:
        """Options and arguments, in the order of the help."""
        return [Parameter(row) for row in self.rows]


class Gdb(_Row):
    """A command as gdb has it; with dashes in front one of the machine interface."""

    fields = ("words", "summary", "counts", "needs_process", "rows", "help", "examples")
    words: str  # "whocall bt"
    summary: str
    counts: bool  # takes COUNT or -COUNT
    needs_process: bool
    rows: tuple[tuple[Any, ...], ...]
    help: tuple[str, ...]  # lines
    examples: tuple[str, ...]

    @property
    def options(self) -> list[Parameter]:
        """In the order of their names."""
        return [each for each in map(Parameter, self.rows) if each.is_option]

    @property
    def arguments(self) -> list[Parameter]:
        """What stands by itself."""
        return [each for each in map(Parameter, self.rows) if not each.is_option]


def program_options() -> list[Parameter]:
    """Of the command line, without a command."""
    from whocall.commands.shell_rows import PROGRAM

    return [Parameter(row) for row in PROGRAM[3]]


def program_texts() -> tuple[str, str, str]:
    """Summary, description, epilog."""
    from whocall.commands.shell_rows import PROGRAM

    return PROGRAM[0], PROGRAM[1], PROGRAM[2]


def shell(name: str) -> Shell | None:
    """The command `name` of the command line."""
    from whocall.commands.shell_rows import SHELL

    row = SHELL.get(name)
    return None if row is None else Shell(row)


def shell_command(name: str) -> Shell:
    """The same, where there is one; KeyError else."""
    found = shell(name)
    if found is None:
        raise KeyError(name)
    return found


def passes_on(name: str) -> bool:
    """Whether that is a command which hands its words to another program."""
    found = shell(name)
    return found is not None and found.passes_on


def shell_names() -> list[str]:
    """Of all commands of the command line, in the order of the help."""
    from whocall.commands.shell_rows import SHELL

    return list(SHELL)


def own_names() -> list[str]:
    """Of those that read their words themselves, and hand them to no other program."""
    return [name for name in shell_names() if not passes_on(name)]


def gdb_commands() -> Iterator[tuple[str, Gdb]]:
    """Of gdb's console, by the names of the table."""
    from whocall.commands.gdb_rows import GDB

    return ((name, Gdb(row)) for name, row in GDB.items())


def gdb(name: str) -> Gdb:
    """The command `name` of gdb's console; KeyError where there is none."""
    from whocall.commands.gdb_rows import GDB

    return Gdb(GDB[name])


def machine_interface(name: str) -> Gdb:
    """What the command `name` is there; KeyError where there is none."""
    from whocall.commands.gdb_rows import MACHINE_INTERFACE

    return Gdb(MACHINE_INTERFACE[name])


def alternatives(name: str, word: str) -> list[str]:
    """The options of a command of the command line of which one alone may be given."""
    found = shell(name)
    takes = [] if found is None else found.takes
    return [each.kept for each in takes if each.alternative == word]


def module_name(name: str) -> str:
    """Of a command: the last part of the names of its modules."""
    return name.replace("-", "_")


def usage(words: str, takes: list[Parameter], dash: str, counts: bool = False) -> str:
    """`whocall bt [OPTION]... [COUNT | -COUNT]`"""
    around = {"": "{}", "?": "[{}]", "*": "[{}]...", "+": "{}..."}
    shown = [each for each in takes if not each.hidden]
    options = [each for each in shown if each.is_option]
    parts = [words]
    if not all(each.required for each in options):
        parts.append("[OPTION]...")
    parts += [around[each.number].format(each.metavar) for each in shown if not each.is_option]
    if counts:
        parts.append("[COUNT | -COUNT]")
    for each in options:
        if each.required:
            named = f"-{each.short}" if each.short and dash == "--" else dash + each.name
            parts.append(f"{named} {each.metavar}")
    return " ".join(parts)

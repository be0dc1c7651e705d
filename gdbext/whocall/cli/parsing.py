"""The parsers of the command line: of one command, or of all for the help on them."""

from __future__ import annotations

from collections.abc import Sequence

import whocall.commands as table
from whocall.base.version import __version__
from whocall.cli.quick_parser import default_of, plainly, reader_of
from whocall.commands import Parameter, Shell

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from whocall.cli.arguments import Values

# Of each command that gives up anything.
_NO_SANDBOX = Parameter(
    (True, "no-sandbox", "", "", "", "", False, False, False, "", False, (),
     "read files without giving up what reading does not need")
)  # fmt: skip


def taken_by(command: Shell) -> list[Parameter]:
    """All of its options and arguments."""
    return [*command.takes, *([] if command.keeps is None else [_NO_SANDBOX])]


def parse_command(argv: Sequence[str]) -> Values | None:
    """What follows the command that `argv` begins with; None when it begins with none.

    Only the parser of that command is made, and argparse's only where it has to be.
    """
    command = table.shell(argv[0]) if argv else None
    if command is None or command.passes_on:
        return None
    takes = taken_by(command)
    words = _with_two_dashes(argv[1:], {each.name for each in takes if each.is_option})
    another = next((each for each in takes if each.kind == "words"), None)
    if another is None or "--" not in words:
        return _parsed(command, argv[0], takes, words)
    end = words.index("--")
    values = _parsed(command, argv[0], takes, words[:end])
    setattr(values, another.kept, [*(getattr(values, another.kept) or []), *words[end + 1 :]])
    return values


def _parsed(command: Shell, name: str, takes: Sequence[Parameter], words: Sequence[str]) -> Values:
    values = plainly(takes, words)
    if values is not None:
        return values
    from whocall.cli.usage_parser import UsageParser

    parser = UsageParser(prog=f"whocall {name}")
    tell(parser, command)
    # Intermixed: `bt CORE --all EXE` is as good as `bt CORE EXE --all`.
    return parser.parse_intermixed_args(words)


def _with_two_dashes(words: Sequence[str], names: set[str]) -> list[str]:
    """The options as they are called here, where they are written as in gdb: `-all`, or as much of
    it as tells it from the others: `-out FILE` is not `-o ut`.
    """

    def meant(word: str) -> bool:
        said = word[1:].partition("=")[0] if word[:1] == "-" else ""
        return len(said) > 1 and any(name.startswith(said) for name in names)

    end = words.index("--") if "--" in words else len(words)
    return [f"-{word}" if meant(word) else word for word in words[:end]] + list(words[end:])


def tell(parser: argparse.ArgumentParser, command: Shell) -> None:
    """Tells argparse what the command takes, and the help on it."""
    import argparse

    if isinstance(command.description, tuple) or isinstance(command.epilog, tuple):
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _text(command.description)
    parser.epilog = _text(command.epilog)
    groups: dict[str, Any] = {"": parser}
    for each in taken_by(command):
        if each.alternative not in groups:
            groups[each.alternative] = parser.add_mutually_exclusive_group()
        names = [each.name]
        if each.is_option:
            names = [*([f"-{each.short}"] if each.short else []), f"--{each.name}"]
        groups[each.alternative].add_argument(*names, **_as_argparse_has_it(each))


def _text(text: str | tuple[str, ...]) -> str | None:
    return (text if isinstance(text, str) else "\n".join(text)) or None


def _as_argparse_has_it(argument: Parameter) -> dict[str, Any]:
    import argparse

    how: dict[str, Any] = {"help": argparse.SUPPRESS if argument.hidden else argument.help or None}
    if argument.is_option and not argument.metavar:
        return {**how, "action": "store_true"}
    how.update(metavar=argument.metavar, default=default_of(argument))
    reader = reader_of(argument)
    if reader is not None:
        how["type"] = reader
    if argument.number:
        how["nargs"] = argument.number
    if argument.repeats:
        how["action"] = "append"
    if argument.required:
        how["required"] = True
    return how


def whole_parser() -> argparse.ArgumentParser:
    """The parser of `whocall` itself, which knows of all commands."""
    from whocall.cli.usage_parser import UsageParser

    _, description, epilog = table.program_texts()
    parser = UsageParser(prog="whocall", description=description, epilog=epilog)
    for option in table.program_options():
        how: dict[str, Any] = {"action": "store_true"}
        if option.name == "version":
            how = {"action": "version", "version": f"whocall {__version__}"}
        parser.add_argument(f"--{option.name}", help=option.help, **how)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in table.shell_names():
        command = table.shell(name)
        assert command is not None
        told = commands.add_parser(name, help=command.summary, add_help=not command.passes_on)
        tell(told, command)
    return parser


def no_such_command(word: str) -> str:
    """The complaint about a first word that is none, with what was meant."""
    from difflib import get_close_matches

    if word in {name for name, _ in table.gdb_commands()}:
        return f'"whocall {word}" is a command in gdb alone; "whocall gdb" starts one that has it'
    names = table.shell_names()
    near = get_close_matches(word, names, 1, 0.75) or [
        each for each in names if each.startswith(word)
    ]
    meant = f'did you mean "whocall {near[0]}"?' if len(near) == 1 else ""
    return f'there is no command "{word}"; ' + (meant or '"whocall --help" lists them')

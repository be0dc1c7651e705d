"""The commands as gdb knows them: those of the table, with help texts and completion."""

from __future__ import annotations

from whocall.commands import table
from whocall.commands.table import Gdb
from whocall.frontend.options import syntax
from whocall.gdb.commands.command_kinds import (
    Command,
    CompletingCommand,
    FileCommand,
    FunctionsCommand,
    ModulesCommand,
    Prefix,
)

# By what stands behind the options.
_KINDS: dict[str, type[Command]] = {
    "expression": Command,
    "file": FileCommand,
    "function": FunctionsCommand,
    "module": ModulesCommand,
}


def register() -> None:
    """Adds all commands, the prefix of the others first."""
    for name, command in sorted(table.gdb_commands(), key=lambda each: each[1].words):
        home, text = table.module_name(name), help_of(command)
        if " " not in command.words:
            Prefix(command.words, home, text)
            continue
        takes = syntax(name)
        _KINDS.get(takes.argument_kind, CompletingCommand)(command.words, home, takes, text)


def help_of(command: Gdb) -> str:
    """A help text in gdb's form: a summary line, the usage, the options."""
    head = command.summary
    options = command.options
    if " " in command.words:  # a prefix has a list of its commands in place of a usage
        takes = [*options, *command.arguments]
        head += f"\nUsage: {table.usage(command.words, takes, '-', command.counts)}"
    parts = [head]
    if options:
        lines = ["Options:"]
        for option in options:
            value = f" {option.metavar}" if option.metavar else ""
            lines += [f"  -{option.name}{value}", f"    {option.help[0].upper()}{option.help[1:]}."]
        parts.append("\n".join(lines))
    if command.help:
        parts.append("\n".join(command.help))
    return "\n\n".join(parts)

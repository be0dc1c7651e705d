"""The commands as gdb knows them: those of the table, with help texts and completion."""

from __future__ import annotations

from collections.abc import Sequence

import whocall.commands as table
from whocall.commands import Parameter
from whocall.gdb.commands.command_kinds import (
    Command,
    CompletingCommand,
    FileCommand,
    FunctionsCommand,
    ModulesCommand,
    Prefix,
)

_COLUMNS = 80
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
        options, arguments = command.options, command.arguments
        if " " not in command.words:
            Prefix(name, command.words, _help(command.summary, options, command.help))
            continue
        usage = table.usage(command.words, [*options, *arguments], "-", command.counts)
        text = _help(f"{command.summary}\nUsage: {usage}", options, command.help)
        kind = arguments[0].kind if arguments else ""
        _KINDS.get(kind, CompletingCommand)(name, command.words, text)


def _filled(text: str) -> str:
    """Broken between words, as gdb prints help as it is. (`textwrap` takes longer to load.)"""
    margin = " " * (len(text) - len(text.lstrip()))
    lines = [margin]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > _COLUMNS and lines[-1].strip():
            lines.append(margin)
        lines[-1] += f" {word}" if lines[-1].strip() else word
    return "\n".join(lines)


def _paragraphs(lines: Sequence[str]) -> str:
    """Lines that follow one another are one paragraph; one that is indented or empty is its own."""
    parts: list[str] = []
    for line in lines:
        if parts and parts[-1] and line and not line.startswith(" ") and parts[-1][0] != " ":
            parts[-1] += f" {line}"
        else:
            parts.append(line)
    return "\n".join(_filled(each) for each in parts)


def _help(head: str, options: list[Parameter], more: Sequence[str]) -> str:
    """A help text in gdb's form: a summary line and the usage, the options, and more lines."""
    parts = [head]
    if options:
        lines = ["Options:"]
        for option in options:
            value = f" {option.metavar}" if option.metavar else ""
            said = f"    {option.help[0].upper()}{option.help[1:]}."
            lines += [f"  -{option.name}{value}", _filled(said)]
        parts.append("\n".join(lines))
    if more:
        parts.append(_paragraphs(more))
    return "\n\n".join(parts)

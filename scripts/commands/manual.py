"""The manual page whocall(1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import whocall.commands as table
from whocall.base.version import __version__
from whocall.commands import Parameter

_COMMON = 4  # commands that share an option: then it is told once

_EXIT = [
    ("0", "Done."),
    (
        "1",
        "An error, which a sentence on standard error tells.",
    ),
    ("2", "Wrong usage."),
    ("130", "Interrupted by Ctrl-C."),
]
_ENVIRONMENT = [
    ("DEBUGINFOD_URLS", "The servers that --debuginfod asks."),
    ("GDB", "The gdb that is run, instead of the first in PATH."),
    ("WHOCALL_CACHE", "With the value off nothing is kept of the files that were looked at."),
    ("XDG_CACHE_HOME", "The folder in which what is kept has a folder, instead of ~/.cache."),
]


def _text(text: str) -> str:
    """Nothing in it is a request of troff's; a dash is one that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\`")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def _lines(lines: Sequence[str]) -> list[str]:
    """Lines that stay as they are."""
    return [".nf", *map(_text, lines), ".fi"]


def _paragraph(text: str | Sequence[str]) -> list[str]:
    return [_text(text)] if isinstance(text, str) else _lines(text)


def _named(each: Parameter, dash: str) -> str:
    short = f"\\fB\\-{each.short}\\fR, " if each.short and dash == "--" else ""
    value = f" \\fI{_text(each.metavar)}\\fR" if each.metavar else ""
    return f"{short}\\fB{_text(dash + each.name)}\\fR{value}"


def _parameters(takes: Iterable[Parameter], dash: str) -> list[str]:
    found = []
    for each in takes:
        if each.hidden or not each.help:
            continue
        name = _named(each, dash) if each.is_option else f"\\fI{_text(each.metavar)}\\fR"
        found += [".TP", name, _text(f"{each.help[0].upper()}{each.help[1:]}.")]
    return found


def _examples(examples: Sequence[str]) -> list[str]:
    return [".PP", "For example:", ".PP", ".RS 4", *_lines(examples), ".RE"]


def _row(each: Parameter) -> tuple[str, ...]:
    return (each.name, each.metavar, each.help)


def _common() -> list[Parameter]:
    """Options that many commands have."""
    every = [each for name in table.own_names() for each in table.shell_command(name).takes]
    counts = Counter(_row(each) for each in every if each.is_option and not each.hidden)
    found = {_row(each): each for each in every if counts[_row(each)] >= _COMMON}
    return list(found.values())


def _of_shell(name: str, common: set[tuple[str, ...]]) -> list[str]:
    command = table.shell_command(name)
    if command.passes_on:
        usage = f"whocall {name} [ARGUMENT]..."
    else:
        usage = table.usage(f"whocall {name}", command.takes, "--")
    own = [each for each in command.takes if not each.is_option or _row(each) not in common]
    others = [each.name for each in command.takes if each.is_option and _row(each) in common]
    summary = f"{command.summary[0].upper()}{command.summary[1:]}."
    found = [f".SS {_text(usage)}", _text(summary)]
    if command.description:
        found += [".PP", *_paragraph(command.description)]
    found += _parameters(own, "--")
    if others:
        named = ", ".join(f"\\fB{_text('--' + other)}\\fR" for other in others)
        found += [".PP", f"And of the common options {named}."]
    if command.epilog:
        found += [".PP", *_paragraph(command.epilog)]
    return [*found, *_examples(command.examples)]


def _of_gdb(command: table.Gdb) -> list[str]:
    takes = [*command.options, *command.arguments]
    found = [f".SS {_text(table.usage(command.words, takes, '-', command.counts))}"]
    found += [_text(command.summary), *_parameters(command.options, "-")]
    if command.help:
        found += [".PP", *_lines(command.help)]
    return [*found, *_examples(command.examples)]


def text() -> str:
    """Of the page."""
    summary, _, _ = table.program_texts()
    common = _common()
    rows = {_row(each) for each in common}
    parts = [
        f'.TH WHOCALL 1 "" "whocall {_text(__version__)}" "User Commands"',
        *(".SH NAME", f"whocall \\- {_text(summary)}", ".SH SYNOPSIS"),
        *("\\fBwhocall\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...", ".br"),
        *("\\fBwhocall\\fR", *(f"[{_named(each, '--')}]" for each in table.program_options())),
        ".SH DESCRIPTION",
        "Prints the true call chain of stripped programs, from a core file or a live process, and"
        " says for every frame how it knows. It needs neither symbols nor unwind tables.",
        *(".PP", "The word in brackets behind a frame is its trust, best first:"),
        "context, cfi, analysis, frame\\-pointer, scan.",
        ".SH COMMANDS",
    ]
    for name in table.shell_names():
        parts += _of_shell(name, rows)
    parts += [".SH COMMON OPTIONS", *_parameters(common, "--")]
    parts += [
        *(".TP", "\\fB\\-\\-no\\-sandbox\\fR"),
        "Of all commands that read files: without giving up what reading does not need.",
        ".SH COMMANDS IN GDB",
        "Once its script is loaded, gdb has these commands:",
        *(".PP", ".RS 4", *_lines(["source $(whocall --script-path)"]), ".RE"),
    ]
    for _, command in table.gdb_commands():
        parts += _of_gdb(command)
    for title, rows_of in (("EXIT STATUS", _EXIT), ("ENVIRONMENT", _ENVIRONMENT)):
        parts.append(f".SH {title}")
        for name, told in rows_of:
            parts += [".TP", f"\\fB{_text(name)}\\fR", _text(told)]
    parts += [".SH SEE ALSO", "\\fBgdb\\fR(1), \\fBcoredumpctl\\fR(1), \\fBeu\\-stack\\fR(1)"]
    return "\n".join(parts) + "\n"

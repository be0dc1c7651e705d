"""The tables of commands in the documentation, between two marks."""

from __future__ import annotations

from pathlib import Path

import whocall.commands as table

BEGIN, END = "<!-- commands -->", "<!-- /commands -->"
DOCS = Path(__file__).resolve().parents[2] / "docs"


def _row(usage: str, told: str) -> str:
    return f"| `{usage}` | {told} |".replace("[COUNT | -COUNT]", "[COUNT \\| -COUNT]").replace(
        "DIR|FILE|-", "DIR\\|FILE\\|-"
    )


def tables() -> str:
    """Of gdb's commands, and of those of the command line."""
    lines = ["", "| in gdb | |", "|---|---|"]
    for _, command in table.gdb_commands():
        takes = [*command.options, *command.arguments]
        shown = [f"-{each.name}" for each in command.options if not each.required]
        usage = table.usage(command.words, takes, "-", command.counts)
        lines.append(_row(usage, f"{command.summary} {_options(shown)}".strip()))
    lines += ["", "| on the command line | |", "|---|---|"]
    for name in table.shell_names():
        told = table.shell_command(name)
        more = "" if not told.passes_on else " [ARGUMENT]..."
        usage = table.usage(f"whocall {name}", told.takes, "--") + more
        shown = [
            f"--{each.name}"
            for each in told.takes
            if each.is_option and not each.hidden and not each.required
        ]
        lines.append(_row(usage, f"{told.summary}. {_options(shown)}".strip()))
    return "\n".join([*lines, "", ""])


def _options(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def renewed(text: str) -> str:
    """With the tables of now between the marks; as it is where there are none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    return f"{before}{begin}\n{tables()}{end}{behind}" if begin and end else text


def pages() -> list[Path]:
    """Those that have the marks."""
    return [path for path in sorted(DOCS.glob("*.md")) if BEGIN in path.read_text(encoding="utf-8")]

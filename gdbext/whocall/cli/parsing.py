"""The parsers of the command line: of one command, or of all for the help on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from whocall.cli import arguments
from whocall.cli.plain import PlainParser
from whocall.core.version import __version__

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse

    from whocall.cli.arguments import Parser, Values


def _adds_later(home: str, function: str) -> Callable[[Parser], None]:
    """`function` of the module `home`, which is imported when it is called."""
    return lambda parser: getattr(import_module(home), function)(parser)


_OF_FILES = "whocall.cli.file_arguments"

# In the order of the help: what each does, and what it takes.
_COMMANDS: dict[str, tuple[str, Callable[[Parser], None]]] = {
    "bt": ("the backtrace of a core or a process", arguments.add_bt),
    "caller": ("who called a frame of a core, in one line", arguments.add_caller),
    "why": ("what happened to a core, in a sentence, and what shows it", arguments.add_why),
    "compare": ("whocall's frames beside those of gdb", arguments.add_compare),
    "functions": (
        "the function table of a file or a core",
        _adds_later(_OF_FILES, "add_functions"),
    ),
    "symbol": (
        "what stands at addresses of a file or a core",
        _adds_later(_OF_FILES, "add_symbol"),
    ),
    "modules": ("the files that a core needs", arguments.add_modules),
    "audit": (
        "how far the analysis can be trusted on a file with unwind tables",
        _adds_later(_OF_FILES, "add_audit"),
    ),
    "signatures": (
        "make a file of signatures of static libraries",
        _adds_later(_OF_FILES, "add_signatures"),
    ),
    "export": (
        "save names and unwinding rules of a file for gdbs without whocall",
        _adds_later("whocall.cli.repair_arguments", "add_export"),
    ),
    "repair-plan": (
        "what a debugger has to be told, as JSON for programs",
        _adds_later("whocall.cli.repair_arguments", "add_repair_plan"),
    ),
    "doctor": ("what is installed, what is missing, how to fix it", arguments.add_doctor),
}

# Commands that have a module of their own, with `add(parser)` and `run(arguments)`: what each does,
# and the module, which is imported when the command is named.
OWN_MODULES: dict[str, tuple[str, str]] = {
    "resolve": ("a log of a crash with names in place", "whocall.cli.resolve_command"),
    "unpack": (
        "write the core that is in a packed file, a crash report or a minidump",
        "whocall.cli.unpack_command",
    ),
    "report": ("a page on one or more cores, or its data as JSON", "whocall.cli.report_command"),
    "serve": ("reports on the cores of a directory, in a browser", "whocall.cli.serve_command"),
    "triage": ("many cores at once, in buckets of one bug each", "whocall.cli.triage_command"),
    "trace": ("the calls that an instrumented program recorded", "whocall.cli.trace_command"),
}


_COMMANDS.update(
    {name: (told, _adds_later(home, "add")) for name, (told, home) in OWN_MODULES.items()}
)


# These read no file of a stranger.
UNCONFINED = ("doctor",)


def _add(command: str, parser: Parser) -> None:
    _COMMANDS[command][1](parser)
    if command not in UNCONFINED:
        parser.add_argument(
            "--no-sandbox",
            action="store_true",
            help="read files without giving up what reading does not need",
        )


def parse_command(argv: Sequence[str]) -> Values | None:
    """What follows the command that `argv` begins with; None when it begins with none.

    Only the parser of that command is made, and argparse's only where it has to be.
    """
    command = argv[0] if argv else ""
    if command not in _COMMANDS:
        return None
    plain = PlainParser()
    _add(command, plain)
    values = plain.parse(argv[1:])
    if values is not None:
        return values
    import argparse

    parser = argparse.ArgumentParser(prog=f"whocall {command}")
    _add(command, parser)
    # Intermixed: `bt CORE --all EXE` is as good as `bt CORE EXE --all`.
    return parser.parse_intermixed_args(argv[1:])


def whole_parser() -> argparse.ArgumentParser:
    """The parser of `whocall` itself, which knows of all commands."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="whocall",
        description="True backtraces of stripped programs.",
        epilog="whocall COMMAND --help tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"whocall {__version__}")
    parser.add_argument(
        "--script-path", action="store_true", help="print the file to `source` in gdb"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (told, _) in _COMMANDS.items():
        _add(name, commands.add_parser(name, help=told))
    commands.add_parser(
        "gdb", help="start gdb with the extension loaded; all else goes to gdb", add_help=False
    )
    return parser

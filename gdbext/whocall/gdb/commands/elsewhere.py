"""The commands of gdb as command lines, for when they have to run in a subprocess: what their
`run_elsewhere(line)` have in common.
"""

from __future__ import annotations

from collections.abc import Sequence

from whocall.base.programs import Argument, behind_dashes, flag, name, option, words
from whocall.gdb.host.output import screen_width, style_codes, write_text
from whocall.gdb.host.settings import filename_display
from whocall.gdb.host.subprocess_backend import run_in_subprocess
from whocall.gdb.target import walks
from whocall.gdb.target.backend_arguments import (
    core_and_program,
    search_arguments,
    strategy_arguments,
)
from whocall.gdb.target.inferior import file_alone, inferior_prefix, readable_selection
from whocall.gdb.target.threads import lwp_of
from whocall.report.form.style import codes_text
from whocall.shared_front_end.options import Parsed


def look_arguments() -> list[Argument]:
    """How names and lines look, by the settings."""
    codes = style_codes()
    found = option("--color", "never" if codes is None else codes_text(codes))
    return [found, *words("--no-demangle") * (not walks.demangle())]


def walk_arguments(parsed: Parsed, every_thread: bool = False) -> list[Argument]:
    """How to walk, and which threads."""
    found = strategy_arguments(parsed)
    inferior, thread = readable_selection()
    if every_thread:
        found += [*words("--all"), option("--inferior", inferior_prefix())]
    elif len(inferior.threads()) > 1:  # a core of one thread may have no LWP in gdb
        found.append(option("--thread", lwp_of(thread)))
    return found


def flags(parsed: Parsed, *names: str) -> list[Argument]:
    """Those of the options that are given."""
    return [flag(each) for each in names if parsed.has(each)]


def width_arguments() -> list[Argument]:
    """How wide the screen is."""
    width = screen_width()
    return [option("--width", width)] if width else []


def screen_arguments() -> list[Argument]:
    """The same, and how files are named."""
    return [*width_arguments(), option("--filename-display", filename_display())]


def ran(command: str, arguments: Sequence[Argument], given: str = "") -> str:
    """What `whocall COMMAND` prints; `given` is its standard input."""
    return run_in_subprocess([name(command), *arguments], given)


def show(command: str, arguments: Sequence[Argument], given: str = "") -> None:
    """Shows what it prints."""
    write_text(ran(command, arguments, given))


def backtrace_arguments(parsed: Parsed, every_thread: bool) -> list[Argument]:
    """What every form of the backtrace takes."""
    arguments = core_and_program() + words("--past-main") * walks.wants_past_main(parsed)
    if parsed.wanted is not None:
        arguments.append(option("--count", parsed.wanted))
    return [*arguments, *walk_arguments(parsed, every_thread), *search_arguments()]


def _of_core(*more: str) -> list[Argument]:
    """The core and `more` as the arguments that stand by themselves, the program by its option."""
    core, *exe = core_and_program()
    programs = [option("--exe", path) for path in exe]
    return [*programs, *search_arguments(), *look_arguments(), *behind_dashes(core, *more)]


def of_core_or_file(*more: str) -> list[Argument]:
    """The same, or of the program's file where that does not run."""
    file = file_alone()
    if file is None:
        return _of_core(*more)
    return [*search_arguments(), *look_arguments(), *behind_dashes(file, *more)]

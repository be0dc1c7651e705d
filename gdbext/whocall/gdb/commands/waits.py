"""`whocall waits` in gdb."""

from __future__ import annotations

from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer
from whocall.gdb.target.inferior import inferior_prefix
from whocall.shared_front_end.options import syntax


def run(line: str) -> None:
    """Tells what each thread waits for."""
    parsed = syntax("waits").parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "json": parsed.has("json"),
        "inferior": inferior_prefix(),
        "style": style_codes(),
    }
    answer("backtraces.waits", wanted, every_thread=True)


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import option
    from whocall.gdb.commands.elsewhere import flags, look_arguments, show
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("waits").parse(line)
    arguments = [*core_and_program(), *flags(parsed, "json")]
    arguments.append(option("--inferior", inferior_prefix()))
    show("waits", [*arguments, *search_arguments(), *look_arguments()])

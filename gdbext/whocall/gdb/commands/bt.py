"""`whocall bt` in gdb."""

from __future__ import annotations

from whocall.gdb.host import settings
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import screen_width, style_codes, write
from whocall.gdb.target.answering import answer
from whocall.gdb.target.inferior import inferior_prefix
from whocall.gdb.target.numbers import MOST_COMPARED, numbers_remark
from whocall.gdb.target.walks import limited, wanted_walk
from whocall.shared_front_end.options import Parsed, syntax


def _most_frames(parsed: Parsed) -> int:
    """Of which the outermost are shown where -COUNT is given."""
    most = settings.max_frames()
    counts_back = parsed.wanted is not None and parsed.wanted < 0
    return min(most, settings.backtrace_limit()) if counts_back else most


def run(line: str) -> None:
    """Prints the backtrace of the selected thread, or of all."""
    parsed = limited(syntax("bt").parse(line))
    if parsed.has("json"):
        silence()
    wanted = {
        "walk": {**wanted_walk(parsed), "max_frames": _most_frames(parsed)},
        "json": parsed.has("json"),
        "fold": settings.folds() and not parsed.has("no-fold"),
        "inferior": inferior_prefix(),
        "style": style_codes(),
        "files": settings.filename_display(),
        "arguments": "" if parsed.has("no-arguments") else settings.frame_arguments(),
        "characters": settings.print_elements(),
        "addresses": settings.prints_addresses(),
        "places": settings.prints_places(),
        "columns": screen_width(),
        "numbered": MOST_COMPARED,
    }
    found = answer("backtraces.backtrace", wanted, every_thread=parsed.has("all"))
    write(numbers_remark(found.result, parsed.has("past-main")))


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import option, words
    from whocall.gdb.commands.elsewhere import (
        backtrace_arguments,
        flags,
        look_arguments,
        screen_arguments,
        show,
    )

    parsed = limited(syntax("bt").parse(line))
    arguments = backtrace_arguments(parsed, parsed.has("all"))
    if not parsed.has("all"):
        arguments.append(option("--inferior", inferior_prefix()))
    arguments += words("--no-fold") * (parsed.has("no-fold") or not settings.folds())
    arguments += words("--no-addresses") * (not settings.prints_addresses())
    arguments += words("--no-places") * (not settings.prints_places())
    arguments.append(option("--max-frames", _most_frames(parsed)))
    arguments += screen_arguments()
    arguments += words("--no-arguments") * parsed.has("no-arguments")
    arguments.append(option("--frame-arguments", settings.frame_arguments()))
    arguments.append(option("--characters", settings.print_elements()))
    show("bt", [*arguments, *flags(parsed, "full", "explain", "json"), *look_arguments()])

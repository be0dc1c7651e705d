"""How the command line says things: results on stdout, warnings and complaints on stderr.

Nothing else writes there (tests/architecture looks): whatever a name holds, it is told here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from whocall.base.errors import UsageError
from whocall.base.printable import printable, safe_json
from whocall.report.form.style import shown_line, shown_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def write(lines: Iterable[str]) -> None:
    """Each of the lines, as soon as it is there."""
    for line in lines:
        sys.stdout.write(shown_line(line) + "\n")


def write_text(pieces: Iterable[str]) -> None:
    """A text of several lines, or a page, whose writer has made the names in it printable."""
    for piece in pieces:
        sys.stdout.write(shown_text(piece))


def write_json(pieces: Iterable[str]) -> None:
    """JSON text."""
    for piece in pieces:
        sys.stdout.write(safe_json(piece))


def flush() -> None:
    """What was written is there before what follows, in another stream."""
    sys.stdout.flush()


def warn(sentences: Iterable[str]) -> None:
    """Each sentence as a warning."""
    for sentence in sentences:
        say(f"warning: {sentence}")


def complain(error: object) -> None:
    """What ends a command, or a part of it, behind all that it has said."""
    flush()
    say(f"whocall: {error}")


def say(line: str) -> None:
    """A line on standard error, at once; on a screen broken between words."""
    shown = [printable(line)]
    if sys.stderr.isatty():
        from whocall.report.form.sentences import broken

        shown = broken(line, _columns_of_errors())
    sys.stderr.write("\n".join(shown) + "\n")
    sys.stderr.flush()


def _columns_of_errors() -> int:
    """Of the screen; 0 where it does not say."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 0


def write_beside(output: str, lines: Iterable[str]) -> None:
    """What is said of an output: on stdout, and on stderr where that itself may be the output."""
    from whocall.base.output_file import is_special

    stream = sys.stderr if is_special(output) else sys.stdout
    for line in lines:
        stream.write(shown_line(line) + "\n")


def take_dash(arguments: Values) -> None:
    """Tools write to standard output for `-`; a file of that name is `./-`."""
    if getattr(arguments, "output", None) == "-":
        arguments.output = "/dev/stdout"


def require_no_terminal(output: str) -> None:
    """For what is no text. Raises UsageError where a terminal would have to show it."""
    from whocall.base.regular_file import handed

    number = handed(output)
    if os.isatty(number) if number is not None else _is_terminal(output):
        raise UsageError(
            "what is written is no text, and standard output is a terminal: name a file, or "
            "another program behind |"
        )


def _is_terminal(path: str) -> bool:
    """Whether it names one, such as /dev/tty, by the kernel's list of devices."""
    import stat

    try:
        found = os.stat(path)
    except OSError:
        return False
    terminals = {4, 5, *range(136, 144)}  # tty, console and serial lines; pseudo-terminals
    return stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) in terminals


def require_other_file(output: str | None, *inputs: str) -> None:
    """Raises UsageError where what is to be written would replace what is read. Other files are
    written over, as by any tool.
    """
    if output is None or not os.path.exists(output):
        return
    for each in inputs:
        if os.path.exists(each) and os.path.samefile(output, each):
            raise UsageError(f"{output} is what is read: write to another file")

"""`whocall bt A B C`: several cores, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whocall.base.errors import Error, UsageError
from whocall.cli.inputs import is_core, open_named_core
from whocall.cli.outputs import complain, flush, write

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values


def told_apart(arguments: Values) -> list[str]:
    """The cores among the files that were named; the one that is none is the program, EXE.

    Two files are CORE and EXE where one of them is no core, or where they are the same: what is
    wrong then the opener says.
    """
    named = [arguments.exe, *arguments.more]
    if len(named) == 1 and (named[0] == arguments.core or not is_core(arguments.core)):
        return [arguments.core]
    others = [name for name in named if not is_core(name)]
    if len(others) > 1:
        raise UsageError(f"bt takes cores and one EXE, but these are no cores: {', '.join(others)}")
    arguments.exe = others[0] if others else ""
    arguments.more = []
    return [arguments.core, *(name for name in named if name not in others)]


def backtraces(
    cores: Sequence[str], arguments: Values, show: Callable[[ProcessImage, Values], None]
) -> int:
    """A core that cannot be read is told, and does not keep the others from being shown: 1 then."""
    status = 0
    for at, core in enumerate(cores):
        if not arguments.json:
            write([""] * (at > 0) + [f"{core}:"])
        try:
            with open_named_core(core, arguments.exe, arguments) as image:
                show(image, arguments)
        except Error as error:
            complain(error)
            status = 1
        flush()
    return status

"""`whocall trace`: the calls that a program recorded, out of a file, a core or a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whocall.base.errors import UsageError
from whocall.base.long_work import working
from whocall.cli.inputs import (
    is_core,
    open_named_core,
    wanted_search,
    wanted_style,
)
from whocall.cli.outputs import flush, require_other_file, warn, write_text
from whocall.report.form.style import shown_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from whocall.cli.arguments import Values
    from whocall.tracing.choice import Choice
    from whocall.tracing.source import OpenTrace


def _choice(arguments: Values) -> Choice:
    from whocall.tracing.choice import Choice

    return Choice(
        threads=arguments.thread,
        most_depth=arguments.depth,
        only=arguments.only,
        functions=arguments.function,
        module=arguments.module,
        least_size=arguments.size,
        longer=arguments.longer,
    )


@contextmanager
def _opened(arguments: Values) -> Iterator[OpenTrace]:
    from whocall.tracing.source import trace_of

    if (arguments.file is None) == (arguments.pid is None):
        raise UsageError("trace takes a FILE or --pid N, one of the two")
    if arguments.pid is not None:
        from whocall.base.process_image import open_process

        with open_process(arguments.pid, search=wanted_search(arguments)) as image:
            yield trace_of(image)
    else:
        with _opened_file(arguments.file, arguments) as trace:
            yield trace


@contextmanager
def _opened_file(path: str, arguments: Values) -> Iterator[OpenTrace]:
    from whocall.tracing.source import is_trace_file, open_trace_file, trace_of

    if not is_core(path) and is_trace_file(path):
        yield open_trace_file(path, wanted_search(arguments))
    else:
        with open_named_core(path, arguments.exe, arguments) as image:
            yield trace_of(image)


@contextmanager
def _output(path: str | None) -> Iterator[Callable[[list[str]], None]]:
    if path is None:
        yield write_text
        return
    from whocall.base.output_file import writing_text

    with writing_text(path, private=True) as file:
        yield lambda pieces: file.writelines(map(shown_text, pieces))


def _write_difference(arguments: Values, forms: list[str]) -> int:
    from whocall.tracing.difference import difference_lines
    from whocall.tracing.forms import telling_of

    if forms not in ([], ["profile"]):
        raise UsageError(f"--diff compares profiles: it has no form --{forms[0]}")
    choice, demangle = _choice(arguments), not arguments.no_demangle
    with _opened(arguments) as first, _opened_file(arguments.diff, arguments) as other:
        warn([*first.warnings, *other.warnings])
        before, behind = telling_of(first, choice, demangle), telling_of(other, choice, demangle)
        with _output(arguments.output) as out:
            lines = difference_lines(before, behind, wanted_style(arguments))
            out([f"{line}\n" for line in lines])
    return 0


def _follow(arguments: Values, forms: list[str]) -> int:
    from whocall.cli.progress import leave
    from whocall.tracing.follow import Follower, follow

    if forms or arguments.last is not None:
        raise UsageError("--follow tells the tree as it grows: it has no other form, and no --last")
    if arguments.file is not None and is_core(arguments.file):
        raise UsageError("--follow takes a process, or the file of one: a core does not change")
    leave()  # it lasts as long as it does
    style = wanted_style(arguments)
    choice, demangle = _choice(arguments), not arguments.no_demangle
    follower = Follower(lambda: _opened(arguments), choice, demangle, style, arguments.pid)
    with _output(arguments.output) as out:

        def write_at_once(pieces: list[str]) -> None:
            out(pieces)
            if arguments.output is None:
                flush()

        follow(follower, write_at_once)
    return 0


def run(arguments: Values) -> int:
    """Writes the wanted form."""
    from whocall.commands import alternatives
    from whocall.tracing.forms import telling_of
    from whocall.tracing.output import pieces

    require_other_file(arguments.output, arguments.file or "", arguments.exe, arguments.diff)
    forms = [each for each in alternatives("trace", "form") if getattr(arguments, each)]
    if arguments.diff:
        return _write_difference(arguments, forms)
    if arguments.follow:
        return _follow(arguments, forms)
    form = forms[0] if forms else "tree"
    choice = _choice(arguments)
    with _opened(arguments) as trace:
        warn(trace.warnings)
        telling = telling_of(trace, choice, not arguments.no_demangle)
        with _output(arguments.output) as out:
            style = wanted_style(arguments)
            for piece in pieces(telling, form, style, arguments.last):
                working(f"Writing the {form} of {arguments.file or arguments.pid}")
                out([piece])
    return 0

"""`whocall trace`: the calls that a program recorded, out of a file, a core or a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from whocall.cli import arguments as common
from whocall.cli.inputs import (
    is_core,
    open_named_core,
    wanted_search,
    wanted_style,
    wanted_thread,
    wanted_walk,
)
from whocall.cli.outputs import require_other_file, warn, write
from whocall.core.errors import UsageError
from whocall.core.long_work import working

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import TextIO

    from whocall.cli.arguments import Parser, Values
    from whocall.tracing.choice import Choice
    from whocall.tracing.source import OpenTrace


def add(parser: Parser) -> None:
    """What it takes."""
    parser.description = (
        "The calls that a program recorded which was compiled with -finstrument-functions and "
        "linked with libwhocall-trace: as an indented tree, or in one of the forms below."
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a core, or WHOCALL_TRACE_FILE")
    parser.add_argument("exe", metavar="EXE", nargs="?", default="", help="the program of a core")
    parser.add_argument("--pid", type=int, metavar="N", help="a running process")
    from whocall.tracing.form_names import FORMS

    forms = parser.add_mutually_exclusive_group()
    for form, told in FORMS.items():
        forms.add_argument(f"--{form}", action="store_true", help=told)
    parser.add_argument(
        "--thread", type=int, metavar="LWP", action="append", default=[],
        help="only this thread; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=common.as_limit, metavar="N", help="no calls deeper than N (outermost: 0)"
    )
    parser.add_argument(
        "--only", metavar="REGEX", default="", help="these functions and what they call"
    )
    parser.add_argument(
        "--function", metavar="REGEX", default="", help="calls of these functions alone"
    )
    parser.add_argument(
        "--module", metavar="M", default="", help="functions of the file whose path ends so"
    )
    parser.add_argument(
        "--last", type=common.as_limit, metavar="N", help="only the last N lines of the tree"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there")
    common.add_search(parser)
    common.add_look(parser)


def _choice(arguments: Values) -> Choice:
    from whocall.tracing.choice import Choice

    return Choice(
        threads=arguments.thread,
        most_depth=arguments.depth,
        only=arguments.only,
        functions=arguments.function,
        module=arguments.module,
    )


@contextmanager
def _opened(arguments: Values) -> Iterator[OpenTrace]:
    from whocall.tracing.source import is_trace_file, open_trace_file, trace_of

    if (arguments.file is None) == (arguments.pid is None):
        raise UsageError("trace takes a FILE or --pid N, one of the two")
    if arguments.pid is not None:
        from whocall.core.image import open_process

        with open_process(arguments.pid, search=wanted_search(arguments)) as image:
            yield trace_of(image)
    elif not is_core(arguments.file) and is_trace_file(arguments.file):
        yield open_trace_file(arguments.file, wanted_search(arguments))
    else:
        with open_named_core(arguments.file, arguments.exe, arguments) as image:
            yield trace_of(image)


@contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    from whocall.core.output_file import writing_text

    with writing_text(path, private=True) as file:
        yield file


def run(arguments: Values) -> int:
    """Writes the wanted form."""
    from whocall.tracing.form_names import FORMS
    from whocall.tracing.forms import telling_of
    from whocall.tracing.output import pieces

    require_other_file(arguments.output, arguments.file or "", arguments.exe)
    form = next((each for each in FORMS if getattr(arguments, each)), "tree")
    choice = _choice(arguments)
    with _opened(arguments) as trace:
        warn(trace.warnings)
        telling = telling_of(trace, choice, not arguments.no_demangle)
        with _output(arguments.output) as out:
            style = wanted_style(arguments)
            for piece in pieces(telling, form, style, arguments.last):
                working(f"Writing the {form} of {arguments.file or arguments.pid}")
                out.write(piece)
    return 0


def compare_shadow(arguments: Values) -> int:
    """`whocall compare --shadow`."""
    from whocall.report.form import jsonform
    from whocall.tracing.shadow import compare_with_trace, shadow_json, shadow_lines
    from whocall.tracing.source import trace_of

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        opened = trace_of(image)
        every = range(len(image.threads))
        indices = every if arguments.all else [wanted_thread(image, arguments)]
        traces = image.report(indices, wanted_walk(arguments)).threads
        found = compare_with_trace(opened, traces, not arguments.no_demangle)
        if arguments.json:
            sys.stdout.write(jsonform.text(shadow_json(opened, found)))
            return 0
        warn(opened.warnings)
        for at, each in enumerate(found):
            if arguments.all:
                write([""] * (at > 0) + [f"Thread {each.trace.number} (LWP {each.trace.lwp}):"])
            write(shadow_lines(each, image.pointer_size, wanted_style(arguments)))
    return 0

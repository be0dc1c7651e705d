"""`whocall report`: one page, or its data as JSON, on one or more cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from whocall.cli import arguments as options
from whocall.cli.inputs import open_named_core, wanted_walk
from whocall.cli.outputs import complain, require_other_file, write_json
from whocall.core.errors import Error, UsageError

if TYPE_CHECKING:
    from whocall.cli.arguments import Parser, Values
    from whocall.core.image import ProcessImage
    from whocall.report.comparison.verdicts import GdbStack
    from whocall.report.page.document import PageOptions, Tell


def add(parser: Parser) -> None:
    """What `whocall report` takes."""
    parser.description = (
        "One page that needs nothing else: what happened, the stacks of all threads and how surely "
        "each frame is known, the stack's words, code, registers, a flame graph, gdb's own "
        "backtrace beside it, and the modules with what is missing."
    )
    parser.epilog = options.CORES_EXPLAINED.replace("each is shown", "the page shows each")
    parser.add_argument("core", metavar="CORE", nargs="+", help="the core files")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page, such as crash.html")
    parser.add_argument(
        "--json", action="store_true", help="the data of the page, schema whocall.report/1"
    )
    parser.add_argument("--title", metavar="TEXT", default="", help="of the page")
    parser.add_argument("--no-gdb", action="store_true", help="do not run gdb for its backtrace")
    options.add_exe(parser)
    options.add_search(parser)
    options.add_walk(parser)
    parser.add_argument("--no-demangle", action="store_true", help="names as they are in the file")


def page_options(arguments: Values, gdb: bool, tell: Tell | None = None) -> PageOptions:
    """How pages are made by these arguments; `gdb`: with its own backtrace beside."""
    from whocall.report.page.document import PageOptions

    def asked(image: ProcessImage, lwps: Sequence[int]) -> dict[int, GdbStack]:
        from whocall.cli.gdb_reference import gdb_stacks

        return gdb_stacks(image, image.plain_core(), arguments.exe, lwps, arguments)

    more: dict[str, Any] = {} if tell is None else {"tell": tell}
    return PageOptions(
        title=arguments.title,
        walk=wanted_walk(arguments),
        gdb_stacks=asked if gdb else None,
        asks_debuginfod=arguments.debuginfod,
        **more,
    )


def opened(
    cores: Sequence[str], arguments: Values, unread: list[Error] | None = None
) -> Iterator[ProcessImage]:
    """The cores one after the other; each is closed before the next is opened. What is wrong with
    those that cannot be read goes into `unread`. Raises Error without it, and where none can.
    """
    good = 0
    for core in cores:
        try:
            opened_core = open_named_core(core, arguments.exe, arguments)
        except Error as error:
            if unread is None:
                raise
            unread.append(error)
            continue
        good += 1
        with opened_core as image:
            yield image
    if unread and not good:
        raise unread[0]


def run(arguments: Values) -> int:
    """`whocall report`."""
    from whocall.core.long_work import stage
    from whocall.core.output_file import writing_text
    from whocall.report.form import jsonform
    from whocall.report.page.document import document
    from whocall.report.page.writing import needs_templates, write_page

    if not arguments.json and not arguments.output:
        raise UsageError("report writes a page: say where with -o FILE.html, or ask for --json")
    require_other_file(arguments.output, *arguments.core, arguments.exe)
    if not arguments.json:
        needs_templates()
    cores = arguments.core
    at = 0

    def tell(what: str, share: float) -> None:
        nonlocal at
        at += share == 0.0
        stage(what, (at - 1 + share) / len(cores))

    how = page_options(arguments, not arguments.no_gdb, tell)
    unread: list[Error] = []
    images = opened(cores, arguments, unread)
    if not arguments.json:
        write_page(images, arguments.output, how, unread)
    else:
        text = jsonform.text(document(images, how, unread))
        if arguments.output:
            with writing_text(arguments.output, private=True) as file:
                file.write(text)
        else:
            write_json([text])
    for error in unread:
        complain(error)
    return 1 if unread else 0

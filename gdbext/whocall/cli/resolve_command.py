"""`whocall resolve`: a log of a crash with names in place."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Parser, Values
    from whocall.core.search import Search


def add(parser: Parser) -> None:
    """What the command takes."""
    from whocall.cli.arguments import add_debug_directories, add_look, hidden

    parser.description = (
        "Names the places in a log: crashes as libwhocall, glibc, sanitizers, Go, Rust, Java, the "
        "kernel, Android, systemd, gdb, perf, valgrind and others write them."
    )
    parser.add_argument(
        "log", metavar="LOG", nargs="?", default="-", help="the file; standard input without it"
    )
    parser.add_argument(
        "--symbols",
        metavar="DIR",
        action="append",
        default=[],
        help="look there, and in all below, for programs, debug files and Breakpad files, by build "
        "id; may be repeated",
    )
    parser.add_argument(
        "--exe", metavar="FILE", default="", help="the program of addresses without a file"
    )
    parser.add_argument(
        "--maps", metavar="FILE", help="a copy of /proc/PID/maps, for logs that hold none"
    )
    add_debug_directories(parser)
    parser.add_argument(
        "--debuginfod",
        action="store_true",
        help="ask the servers of DEBUGINFOD_URLS for missing files and debug info",
    )
    add_look(parser)
    parser.add_argument("--json", action="store_true", help="schema whocall.resolve/1")
    parser.add_argument("--announce", action="store_true", help=hidden())


def _search(arguments: Values) -> Search:
    from whocall.cli.inputs import debug_directories, watched_downloads
    from whocall.core.search import Search

    return Search(
        directories=arguments.symbols,
        debug_directories=debug_directories(arguments.debug_directory),
        debuginfod=arguments.debuginfod,
        progress=watched_downloads(arguments),
    )


def run(arguments: Values) -> int:
    """Writes the log; 0 also where nothing could be named."""
    from whocall.cli.inputs import wanted_style
    from whocall.cli.outputs import flush, warn, write_json, write_text
    from whocall.resolve.log import open_log

    log = open_log(
        arguments.log,
        _search(arguments),
        demangle=not arguments.no_demangle,
        exe=arguments.exe,
        maps=arguments.maps,
    )
    with log:
        if arguments.json:
            write_json(log.json())
            return 0
        for text in log.text(wanted_style(arguments)):
            write_text([text])
            if log.is_live:
                flush()
        flush()
        warn(log.warnings())
    return 0

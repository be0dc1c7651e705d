"""`whocall resolve`: a log of a crash with names in place."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.cli.arguments import Values


def _search(arguments: Values) -> Search:
    from whocall.base.file_search import Search
    from whocall.cli.inputs import debug_directories, watched_downloads

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

"""What `whocall trace` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.gdb_helper.output import style_of

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json
    from whocall.tracing.source import OpenTrace


def _tell(trace: OpenTrace, out: Output, wanted: Json) -> None:
    from whocall.tracing.choice import Choice
    from whocall.tracing.forms import telling_of
    from whocall.tracing.output import pieces

    out.warn(trace.warnings)
    choice = wanted["choice"]
    chosen = Choice(**{**choice, "threads": tuple(choice["threads"])})
    telling = telling_of(trace, chosen, wanted["demangle"])
    out.write_pieces(pieces(telling, wanted["form"], style_of(wanted), wanted["last"]))


def trace(now: Current, out: Output, wanted: Json) -> None:
    """The trace of the process."""
    from whocall.tracing.source import trace_of

    _tell(trace_of(now.image), out, wanted)


def trace_of_file(search: Search, out: Output, wanted: Json) -> None:
    """That of a file."""
    from whocall.tracing.source import open_trace_file

    _tell(open_trace_file(wanted["file"], search), out, wanted)

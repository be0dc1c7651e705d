"""What `whocall report` answers: a page, or its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.gdb_helper.backtraces import walk_of
from whocall.gdb_helper.output import encoded
from whocall.report.comparison.verdicts import GdbFrame, GdbStack
from whocall.report.form import jsonform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whocall.base.process_image import ProcessImage
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json
    from whocall.report.page.document import PageOptions


def _first(now: Current) -> int:
    """Index of the thread to show first: of a live program the selected one."""
    return now.selected if now.image.core_path is None else now.image.index_of_crash()


def first_thread(now: Current, out: Output, wanted: Json) -> Json:
    """gdb's number of that thread, and whether its stack is none that gdb takes long for. Raises
    Error at once where no page can be made.
    """
    from whocall.report.page.limits import Limits

    if not wanted["json"]:
        from whocall.report.page.writing import needs_templates

        needs_templates()
    first = _first(now)
    number = now.numbers.get(first, now.image.threads[first].number)
    frames = len(now.image.backtrace(first, walk_of(wanted)).frames)
    return {"number": number, "is_short": frames <= Limits().asked_of_gdb}


def _options(now: Current, wanted: Json) -> PageOptions:
    """`stack` are gdb's own frames of the first thread, or None."""
    from whocall.base.long_work import stage
    from whocall.report.page.document import PageOptions
    from whocall.report.tables.modules import on_gdb

    told = wanted["stack"]

    def asked(image: ProcessImage, lwps: Sequence[int]) -> dict[int, GdbStack]:
        if "frames" not in told:
            raise Error(told["error"])
        frames = [GdbFrame(**frame) for frame in told["frames"]]
        return dict.fromkeys(lwps, GdbStack(frames, told["stop"]))

    return PageOptions(
        title=wanted["title"],
        walk=walk_of(wanted),
        gdb_stacks=asked if told is not None else None,
        advice=on_gdb(wanted["asks_debuginfod"]),
        first=_first(now),
        numbers=now.numbers,
        tell=stage,
    )


def report(now: Current, out: Output, wanted: Json) -> None:
    """The page is handed over, its data are written."""
    from whocall.report.page.document import document
    from whocall.report.page.writing import page_text

    found = document([now.image], _options(now, wanted))
    if not wanted["json"]:
        out.hand_over(encoded(page_text(found)))
    elif wanted["to_file"]:
        out.hand_over(encoded(jsonform.text(found)))
    else:
        out.write_json([jsonform.text(found)])

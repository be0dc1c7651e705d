"""What `whocall bt`, `waits`, `-whocall-backtrace` and `whocall` alone answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.model import Report, TextForm, rows
from whocall.base.module_warnings import warnings_on
from whocall.base.process_image import Walk
from whocall.gdb_helper.output import style_of
from whocall.report.backtrace.caller import chain, sentence_lines, shown_pcs
from whocall.report.backtrace.written import report_text
from whocall.report.form import jsonform
from whocall.report.form.file_names import FileNames
from whocall.report.last_words import last_words

if TYPE_CHECKING:
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


def walk_of(wanted: Json) -> Walk:
    """How to walk."""
    return Walk(**wanted["walk"])


def _report(now: Current, wanted: Json) -> Report:
    return now.image.report(now.wanted(wanted["every_thread"]), walk_of(wanted), now.numbers)


def backtrace(now: Current, out: Output, wanted: Json) -> list[tuple[int, int]]:
    """Of the selected thread, or of all, under gdb's thread numbers; the level and the pc of the
    first `numbered` frames of the selected one.
    """
    report = _report(now, wanted)
    if wanted["json"]:
        out.write_json(jsonform.backtrace_text(report, last_words=last_words(now.image, report)))
        return []
    out.warn(report.warnings)
    walk = wanted["walk"]
    form = TextForm(
        last_words=last_words(now.image, report),
        fold=wanted["fold"],
        full=walk["registers"],
        explain=walk["explain"],
        addresses=wanted["addresses"],
        places=wanted["places"],
        every_thread=wanted["every_thread"],
        inferior=wanted["inferior"],
        files=wanted["files"],
        arguments=wanted["arguments"],
        characters=wanted["characters"],
        columns=wanted["columns"] or 0,
    )
    out.write_pieces(report_text(report, form, style_of(wanted)))
    if wanted["every_thread"]:
        return []
    (trace,) = report.threads
    return list(islice(rows(trace.frames, "level", "pc"), wanted["numbered"]))


def backtrace_data(now: Current, out: Output, wanted: Json) -> Json:
    """The same as data."""
    report = _report(now, wanted)
    return jsonform.backtrace_json(report, last_words=last_words(now.image, report))


def why(now: Current, out: Output, wanted: Json) -> None:
    """What happened to the thread that crashed; in a live process, to the selected one."""
    from whocall.report.why import why_json, why_lines

    lives = now.image.core_path is None
    index = now.selected if lives else now.image.index_of_crash()
    trace = now.renumbered(index, now.image.backtrace(index, walk_of(wanted)))
    if wanted["json"]:
        out.write_json([jsonform.text(why_json(now.image, index, trace))])
        return
    out.write(why_lines(now.image, index, trace, style_of(wanted), wanted["columns"] or 0))


def frame(now: Current, out: Output, wanted: Json) -> Json:
    """Where a frame of the selected thread is: its pc, its stack pointer or None, and how many
    frames it is held by as an inlined call is. Raises Error where there is none of that level.
    """
    level = wanted["level"]
    walk = walk_of({**wanted, "walk": {**wanted["walk"], "count": level + 1}})
    frames = now.image.backtrace(now.selected, walk).frames
    if level >= len(frames):
        frames = now.image.backtrace(now.selected, walk_of(wanted)).frames
        raise Error(f"whocall finds {len(frames):,} frames: there is no frame {level}")
    found, around = frames[level], 0
    if found.inlined:
        whole = now.image.backtrace(now.selected, walk_of(wanted)).frames
        around = next(at for at in range(level, len(whole)) if not whole[at].inlined) - level
    return {"pc": found.pc, "sp": found.sp or None, "around": around}


def waits(now: Current, out: Output, wanted: Json) -> None:
    """What each thread waits for, under gdb's thread numbers."""
    from whocall.report.tables.waits import waits_json, waits_text

    order = now.every_thread()
    if wanted["json"]:
        out.write_json(waits_json(now.image, order, now.numbers))
        return
    out.warn(now.image.own_warnings)
    style = style_of(wanted)
    out.write_pieces(waits_text(now.image, style, order, now.numbers, wanted["inferior"]))


def caller(now: Current, out: Output, wanted: Json) -> None:
    """Who called the selected frame, in one line."""
    trace, at = chain(now.image, now.selected, walk_of(wanted), wanted["level"], wanted["pc"])
    out.warn(warnings_on(now.image, shown_pcs(trace, at)))
    files = FileNames(wanted["files"], (each.path for each in now.image.modules))
    out.write(sentence_lines(now.image, trace, at, files, style_of(wanted), wanted["columns"] or 0))

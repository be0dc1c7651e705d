"""`whocall shrink`: what questions about a core need of it, as a core of some kilobytes."""

from __future__ import annotations

from whocall.base.process_image import Walk
from whocall.cli.inputs import wanted_search
from whocall.cli.outputs import (
    require_no_terminal,
    require_other_file,
    warn,
    write_beside,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whocall.base.model import Report
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.inputs.shrinking import Needed


def run(arguments: Values) -> int:
    """Writes it, and tells whether it says the same."""
    from whocall.base.output_file import writing
    from whocall.inputs.shrinking import shrink

    require_no_terminal(arguments.output)
    require_other_file(arguments.output, arguments.core, arguments.exe)
    ask = walk if arguments.private else ask_everything
    with writing(arguments.output, private=True, unbuffered=True) as out:
        made = shrink(
            arguments.core, arguments.exe, wanted_search(arguments), ask, out, arguments.private
        )
    warn(made.remarks)
    share = f"{100 * made.after / made.before:.2g} %" if made.before else "all"
    told = [f"{arguments.output}: {made.after} bytes, {share} of {made.name}"]
    if made.changed:
        threads = "its thread" if made.threads == 1 else f"{made.changed} of {made.threads} threads"
        remedy = "; without --private they may be the same" if arguments.private else ""
        told.append(f"The frames of {threads} are told otherwise than of the whole core{remedy}.")
    write_beside(arguments.output, told)
    return 0


def walk(image: ProcessImage) -> Iterable[Needed]:
    """All threads, and nothing else."""
    return [*_frames(image.report(walk=Walk(past_main=True)))]


def ask_everything(image: ProcessImage) -> Iterable[Needed]:
    """All that `bt -all -full -explain`, `why` and `waits` tell."""
    from whocall.base.model import TextForm
    from whocall.report.backtrace.written import report_text
    from whocall.report.form.style import Style
    from whocall.report.last_words import last_words
    from whocall.report.tables.waits import waits_json
    from whocall.report.why import why_json

    report = image.report(walk=Walk(past_main=True, explain=True, registers=True))
    form = TextForm(
        full=True,
        explain=True,
        every_thread=True,
        last_words=last_words(image, report),
        arguments="values",
    )
    for _ in report_text(report, form, Style()):
        pass
    crashed = image.index_of_crash()
    why_json(image, crashed, report.threads[crashed])
    for _ in waits_json(image):
        pass
    return [*_frames(report)]


def _frames(report: Report) -> Iterator[Needed]:
    for trace in report.threads:
        for pc, sp, cfa, signal in trace.rows("pc", "sp", "cfa", "signal_trampoline"):
            yield pc, sp, cfa or 0, signal

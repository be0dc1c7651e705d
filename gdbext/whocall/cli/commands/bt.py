"""`whocall bt`, which is run more often than all else: it imports what it needs and no more."""

from __future__ import annotations

from whocall.base.model import TextForm
from whocall.base.records import replace
from whocall.cli.inputs import (
    open_image,
    wanted_columns,
    wanted_style,
    wanted_thread,
    wanted_walk,
)
from whocall.cli.outputs import warn, write, write_json, write_text
from whocall.report.backtrace.written import report_text
from whocall.report.last_words import last_words

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """Of one core or process, or of several cores."""
    if arguments.list:
        from whocall.cli.stored import list_stored

        return list_stored(arguments)
    if arguments.exe or arguments.more:
        from whocall.cli.many_cores import backtraces, told_apart

        cores = told_apart(arguments)
        if len(cores) > 1:
            return backtraces(cores, arguments, backtrace_of_image)
    with open_image(arguments) as image:
        backtrace_of_image(image, arguments)
    return 0


def backtrace_of_image(image: ProcessImage, arguments: Values) -> None:
    """Of one core or process."""
    if arguments.format is not None:
        from whocall.cli.formats import write_format

        write_format(image, arguments)
        return
    walk = replace(
        wanted_walk(arguments),
        explain=arguments.explain,
        registers=arguments.full,
        past_main=arguments.past_main,
        count=arguments.count,
    )
    indices = None if arguments.all else [wanted_thread(image, arguments)]
    report = image.report(indices, walk)
    if arguments.json:
        from whocall.report.form import jsonform

        version = int(arguments.schema)
        said = last_words(image, report) if version > 1 else ""  # the first schema has no place
        write_json(jsonform.backtrace_text(report, version, said))
        return
    warn(report.warnings)
    if image.origin:
        from whocall.dumps.origin import told

        write(told(image.origin))
    form = TextForm(
        fold=not arguments.no_fold,
        full=arguments.full,
        explain=arguments.explain,
        addresses=not arguments.no_addresses,
        places=not arguments.no_places,
        every_thread=arguments.all,
        inferior=arguments.inferior,
        last_words=last_words(image, report),
        files=arguments.filename_display,
        arguments="" if arguments.no_arguments else arguments.frame_arguments,
        characters=arguments.characters or TextForm().characters,
        columns=wanted_columns(arguments) or 0,
    )
    write_text(report_text(report, form, wanted_style(arguments)))

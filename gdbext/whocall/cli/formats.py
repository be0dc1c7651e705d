"""`whocall bt --format`: backtraces in the forms of other tools."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from whocall.base.errors import UsageError
from whocall.base.records import replace
from whocall.cli.inputs import wanted_thread, wanted_walk
from whocall.cli.outputs import warn, write_text
from whocall.report.formats import FORMATS

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values


def write_format(image: ProcessImage, arguments: Values) -> None:
    """Writes the backtraces of one core or process to standard output."""
    if arguments.format not in FORMATS:
        raise UsageError(f"--format takes {', '.join(FORMATS)}, not {arguments.format!r}")
    if arguments.json or arguments.full or arguments.explain:
        raise UsageError("--format says all by itself: leave out --json, --full and --explain")
    module, of_all = FORMATS[arguments.format]
    past_main = arguments.past_main
    walk = replace(wanted_walk(arguments), past_main=past_main, count=arguments.count)
    everyone = arguments.all or (of_all and arguments.thread is None)
    report = image.report(None if everyone else [wanted_thread(image, arguments)], walk)
    warn(report.warnings)
    write_text(import_module(module).text(report))

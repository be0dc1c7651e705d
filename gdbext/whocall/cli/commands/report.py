"""`whocall report`: one page, or its data as JSON, on one or more cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.errors import Error, UsageError
from whocall.cli.outputs import complain, require_other_file, write_json
from whocall.cli.pages import opened, page_options

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall report`."""
    from whocall.base.long_work import stage
    from whocall.base.output_file import writing_text
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

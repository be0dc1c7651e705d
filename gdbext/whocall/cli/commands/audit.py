"""`whocall audit`: how far the analysis can be trusted on a file."""

from __future__ import annotations

from whocall.cli.inputs import screen_columns, wanted_style
from whocall.cli.outputs import write, write_json
from whocall.report.form import jsonform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall audit`."""
    from whocall.report.tables.audit import DIFFERENCES, audit_file, audit_json, audit_lines

    limit = DIFFERENCES if arguments.limit is None else arguments.limit
    found = audit_file(arguments.file, limit, not arguments.no_demangle)
    if arguments.json:
        write_json([jsonform.text(audit_json(found))])
    else:
        write(audit_lines(found, wanted_style(arguments), screen_columns() or 0))
    return 0

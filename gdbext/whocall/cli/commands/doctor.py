"""`whocall doctor`: what is installed, what is missing, how to fix it."""

from __future__ import annotations

from whocall.cli.outputs import write, write_json
from whocall.report.form import jsonform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """Exit status 1 when something is missing."""
    from whocall.cli.inputs import screen_columns
    from whocall.shared_front_end.doctor import examine, finding_lines, findings_json, is_healthy

    findings = examine()
    if arguments.json:
        write_json([jsonform.text(findings_json(findings))])
    else:
        write(finding_lines(findings, screen_columns() or 0))
    return 0 if is_healthy(findings) else 1

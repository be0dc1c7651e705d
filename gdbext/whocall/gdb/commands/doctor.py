"""`whocall doctor` in gdb; works without the native module."""

from __future__ import annotations

import gdb

from whocall.gdb.host import settings
from whocall.gdb.host.output import screen_width, write, write_json
from whocall.report.form import jsonform
from whocall.shared_front_end.doctor import examine, finding_lines, findings_json
from whocall.shared_front_end.options import syntax


def run(line: str) -> None:
    """Prints the findings; what is missing is no error of this command."""
    parsed = syntax("doctor").parse(line)
    findings = examine(gdb.VERSION, settings.has_helper())
    if parsed.has("json"):
        write_json([jsonform.text(findings_json(findings))])
    else:
        write(finding_lines(findings, screen_width() or 0))

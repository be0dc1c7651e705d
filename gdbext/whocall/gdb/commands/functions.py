"""`whocall functions` in gdb."""

from __future__ import annotations

from whocall.base.errors import Error
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.target.answering import answer, answer_of_files, file_alone
from whocall.gdb.target.walks import demangle
from whocall.shared_front_end.options import syntax


def run(line: str) -> None:
    """Lists functions at their runtime addresses, or at a file's link addresses."""
    parsed = syntax("functions").parse(line)
    if parsed.has("json"):
        silence()
    wanted = {
        "module": parsed.values.get("module", ""),
        "regex": parsed.arguments[0] if parsed.arguments else "",
        "demangle": demangle(),
        "json": parsed.has("json"),
        "style": style_codes(),
        "columns": screen_width(),
    }
    file = file_alone()
    if file is None:
        answer("tables.functions", wanted)
        return
    if wanted["module"]:
        raise Error("no module is loaded: only the program's file is there before it runs")
    answer_of_files("tables.functions_of_file", {**wanted, "file": file})


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import option
    from whocall.gdb.commands.elsewhere import flags, of_core_or_file, show, width_arguments

    parsed = syntax("functions").parse(line)
    module = parsed.values.get("module", "")
    arguments = [option("--module", module)] if module else []
    arguments += [*flags(parsed, "json"), *width_arguments()]
    show("functions", [*arguments, *of_core_or_file(*parsed.arguments)])

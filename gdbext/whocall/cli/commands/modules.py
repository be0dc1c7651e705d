"""`whocall modules`: the files that a core needs."""

from __future__ import annotations

from whocall.cli.inputs import open_named_core, wanted_columns, wanted_style
from whocall.cli.outputs import warn, write, write_json
from whocall.report.form import jsonform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall modules`."""
    from whocall.report.form.sentences import broken
    from whocall.report.tables.module_table import module_lines
    from whocall.report.tables.modules import (
        all_facts,
        jit_line,
        modules_json,
        on_gdb,
        on_the_command_line,
        warnings,
    )

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        facts = all_facts(image, fetch=arguments.debuginfod)
        advise = on_gdb if arguments.settings_of_gdb else on_the_command_line
        advice = advise(arguments.debuginfod)
        if arguments.json:
            write_json([jsonform.text(modules_json(image, facts, advice))])
            return 0
        warn(warnings(image, facts))
        columns = wanted_columns(arguments) or 0
        write(module_lines(facts, advice, wanted_style(arguments), columns))
        write(line for told in jit_line(image) for line in broken(told, columns))
    return 0

"""What the commands of the command line do, but for `bt`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from whocall.cli.inputs import (
    is_core,
    open_named_core,
    parse_address,
    wanted_columns,
    wanted_search,
    wanted_style,
    wanted_thread,
    wanted_walk,
)
from whocall.cli.outputs import (
    require_other_file,
    warn,
    write,
    write_beside,
    write_json,
    write_text,
)
from whocall.cli.repair_commands import export, repair_plan
from whocall.core.errors import Error, UsageError
from whocall.core.records import replace
from whocall.core.regular_file import read_text
from whocall.report.form import jsonform
from whocall.report.tables.wanted_places import WantedPlace

if TYPE_CHECKING:
    from whocall.cli.arguments import Values
    from whocall.core.image import ProcessImage
    from whocall.report.comparison.verdicts import GdbStack


def caller(arguments: Values) -> int:
    """`whocall caller`."""
    from whocall.core.module_warnings import warnings_on
    from whocall.report.backtrace.caller import caller_json, chain, sentence, shown_pcs

    pc = None if arguments.pc is None else parse_address(arguments.pc)
    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        index = wanted_thread(image, arguments)
        trace, at = chain(image, index, wanted_walk(arguments), arguments.frame, pc)
        if arguments.json:
            write_json([jsonform.text(caller_json(trace, at))])
            return 0
        warn(warnings_on(image, shown_pcs(trace, at)))
        write([sentence(trace, at, wanted_style(arguments))])
    return 0


def why(arguments: Values) -> int:
    """`whocall why`."""
    from whocall.report.why import why_json, why_lines

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        index = image.index_of_crash()
        trace = image.backtrace(index, replace(wanted_walk(arguments), past_main=True))
        if arguments.json:
            write_json([jsonform.text(why_json(image, index, trace))])
            return 0
        write(why_lines(image, index, trace, wanted_style(arguments)))
    return 0


def _gdb_stacks(image: ProcessImage, lwps: Sequence[int], arguments: Values) -> dict[int, GdbStack]:
    from whocall.cli.gdb_reference import gdb_stacks, stacks_from

    source = arguments.gdb_frames
    if source is None:
        return gdb_stacks(image, image.plain_core(), arguments.exe, lwps, arguments)
    try:
        text = read_text(source)
        return stacks_from(json.loads(text), lwps)
    except OSError as error:
        raise Error(f"{source}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Error(f"{source}: these are not gdb's frames as whocall writes them") from error


def compare(arguments: Values) -> int:
    """`whocall compare`: the frames beside those of a gdb that is run, or a shadow stack."""
    if arguments.shadow:
        from whocall.cli.trace_command import compare_shadow

        return compare_shadow(arguments)
    from whocall.report.comparison.forms import (
        compare_thread,
        comparison_json,
        comparison_lines,
        comparison_warnings,
        comparisons_lines,
    )

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        everyone = range(len(image.threads))
        indices = everyone if arguments.all else [wanted_thread(image, arguments)]
        traces = image.report(indices, wanted_walk(arguments)).threads
        stacks = _gdb_stacks(image, [trace.lwp for trace in traces], arguments)
        found = [compare_thread(image, trace, stacks[trace.lwp]) for trace in traces]
        if arguments.json:
            write_json([jsonform.text(comparison_json(image, found))])
            return 0
        warn(comparison_warnings(image, found))
        style = wanted_style(arguments)
        size, columns = image.pointer_size, wanted_columns(arguments)
        if arguments.all:
            write(comparisons_lines(found, size, style, arguments.inferior, columns))
            return 0
        for comparison in found:
            write(comparison_lines(comparison, size, style, columns))
    return 0


def functions(arguments: Values) -> int:
    """`whocall functions`."""
    from whocall.core.elf_head import address_size
    from whocall.report.tables.functions import function_text, functions_json, of_file, of_process

    demangle = not arguments.no_demangle
    of_core = is_core(arguments.file)
    if of_core:
        image = open_named_core(arguments.file, arguments.exe, arguments)
        tables = list(of_process(image, arguments.module, arguments.regex, demangle))
        size = image.pointer_size
    else:
        if arguments.module:
            raise UsageError("--module chooses among the modules of a core")
        tables = [of_file(arguments.file, arguments.regex, demangle, wanted_search(arguments))]
        size = address_size(arguments.file)
    if arguments.json:
        write_json(functions_json(tables))
        return 0
    warn(table.remark for table in tables if table.remark)
    for table in tables:
        if arguments.regex and not table.functions and of_core:
            continue
        write_text(function_text(table, size, wanted_style(arguments)))
    return 0


def _wanted_place(text: str) -> WantedPlace:
    try:
        return WantedPlace(parse_address(text))
    except UsageError:
        refused = f"{text!r} is neither a hexadecimal address nor the name of a function here"
        return WantedPlace(None, text, refused)


def symbol(arguments: Values) -> int:
    """`whocall symbol`."""
    from whocall.core.image import open_names
    from whocall.core.module_warnings import warnings_on
    from whocall.report.tables.functions import of_file, of_process
    from whocall.report.tables.places import place_lines, places_json
    from whocall.report.tables.wanted_places import PlaceSearch

    wanted = [_wanted_place(text) for text in arguments.addresses]
    demangle = not arguments.no_demangle
    if is_core(arguments.file):
        image = open_named_core(arguments.file, arguments.exe, arguments)
        search = PlaceSearch(lambda pattern: of_process(image, "", pattern, demangle))
        addresses = [image.wrapped(address) for address in search.addresses(wanted)]
        remarks = list(warnings_on(image, addresses))
        places = [image.native.describe(address, demangle=demangle) for address in addresses]
        size = image.pointer_size
    else:
        where = wanted_search(arguments)
        names = open_names(arguments.file, search=where)
        search = PlaceSearch(lambda pattern: [of_file(arguments.file, pattern, demangle, where)])
        places = [names.describe(address, demangle) for address in search.addresses(wanted)]
        remarks, size = [names.remark] if names.remark else [], 0
    if arguments.json:
        write_json([jsonform.text(places_json(places, remarks + search.complaints))])
        return 1 if search.complaints else 0
    warn(remarks)
    for place in places:
        write(place_lines(place, size, wanted_style(arguments)))
    search.complain()
    return 0


def modules(arguments: Values) -> int:
    """`whocall modules`."""
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
        write(module_lines(facts, advice, wanted_style(arguments), wanted_columns(arguments)))
        write(jit_line(image))
    return 0


def audit(arguments: Values) -> int:
    """`whocall audit`."""
    from whocall.report.tables.audit import DIFFERENCES, audit_file, audit_json, audit_lines

    limit = DIFFERENCES if arguments.limit is None else arguments.limit
    found = audit_file(arguments.file, limit, not arguments.no_demangle)
    if arguments.json:
        write_json([jsonform.text(audit_json(found))])
    else:
        write(audit_lines(found, wanted_style(arguments)))
    return 0


def signatures(arguments: Values) -> int:
    """`whocall signatures`."""
    from whocall.core.signatures import write_signatures

    require_other_file(arguments.output, *arguments.archives)
    write_beside(arguments.output, write_signatures(arguments.archives, arguments.output))
    return 0


def doctor(arguments: Values) -> int:
    """`whocall doctor`: exit status 1 when something is missing."""
    from whocall.frontend.doctor import examine, finding_lines, findings_json, is_healthy

    findings = examine()
    if arguments.json:
        write_json([jsonform.text(findings_json(findings))])
    else:
        write(finding_lines(findings))
    return 0 if is_healthy(findings) else 1


COMMANDS: dict[str, Callable[[Values], int]] = {
    "caller": caller,
    "why": why,
    "compare": compare,
    "functions": functions,
    "symbol": symbol,
    "modules": modules,
    "audit": audit,
    "signatures": signatures,
    "export": export,
    "repair-plan": repair_plan,
    "doctor": doctor,
}

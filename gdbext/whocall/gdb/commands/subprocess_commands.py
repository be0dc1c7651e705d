"""The commands of gdb as command lines, for when they have to run in a subprocess."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gdb

from whocall.core.errors import Error, NativeMissingError
from whocall.core.programs import Argument, behind_dashes, flag, name, option, words
from whocall.dumps import sparse
from whocall.dumps.unpacking import is_plain, of_json
from whocall.frontend import options
from whocall.frontend.options import Parsed
from whocall.gdb.commands.audit import audited_file, module_file, wanted_limit
from whocall.gdb.commands.caller import selected_pc
from whocall.gdb.commands.export import exported_file
from whocall.gdb.commands.open import load, load_plain, wanted
from whocall.gdb.commands.symbol import wanted_expressions, wanted_place
from whocall.gdb.host import settings
from whocall.gdb.host.output import screen_width, style_codes, write, write_text
from whocall.gdb.host.subprocess_backend import other_python, run_in_subprocess
from whocall.gdb.repair import attached
from whocall.gdb.target import walks
from whocall.gdb.target.backend_arguments import (
    core_and_program,
    search_arguments,
    strategy_arguments,
)
from whocall.gdb.target.executable import program_file
from whocall.gdb.target.frames import selected_level, stacks_json
from whocall.gdb.target.inferior import file_alone, inferior_prefix, readable_selection
from whocall.gdb.target.threads import lwp_of
from whocall.report.form import jsonform
from whocall.report.form.style import codes_text


def look_arguments() -> list[Argument]:
    """How names and lines look, by the settings."""
    codes = style_codes()
    found = option("--color", "never" if codes is None else codes_text(codes))
    return [found, *words("--no-demangle") * (not walks.demangle())]


def _walk_arguments(parsed: Parsed, every_thread: bool = False) -> list[Argument]:
    found = strategy_arguments(parsed)
    inferior, thread = readable_selection()
    if every_thread:
        found += [*words("--all"), option("--inferior", inferior_prefix())]
    elif len(inferior.threads()) > 1:  # a core of one thread may have no LWP in gdb
        found.append(option("--thread", lwp_of(thread)))
    return found


def _flags(parsed: Parsed, *names: str) -> list[Argument]:
    return [flag(each) for each in names if parsed.has(each)]


def _width_arguments() -> list[Argument]:
    width = gdb.parameter("width")
    return [option("--width", width)] if width else []


def _ran(command: str, arguments: Sequence[Argument], given: str = "") -> str:
    return run_in_subprocess([name(command), *arguments], given)


def _show(command: str, arguments: Sequence[Argument], given: str = "") -> None:
    write_text(_ran(command, arguments, given))


def _backtrace_arguments(parsed: Parsed, every_thread: bool) -> list[Argument]:
    arguments = core_and_program() + words("--past-main") * walks.wants_past_main(parsed)
    if parsed.wanted is not None:
        arguments.append(option("--count", parsed.wanted))
    return [*arguments, *_walk_arguments(parsed, every_thread), *search_arguments()]


def _backtrace(line: str) -> None:
    parsed = options.BACKTRACE.parse(line)
    arguments = _backtrace_arguments(parsed, parsed.has("all"))
    arguments += words("--no-fold") * (parsed.has("no-fold") or not settings.folds())
    width = screen_width()
    arguments += [option("--width", width)] if width else []
    arguments.append(option("--filename-display", settings.filename_display()))
    _show("bt", [*arguments, *_flags(parsed, "full", "explain", "json"), *look_arguments()])


def _mi_backtrace(given: Sequence[str]) -> dict[str, Any]:
    parsed = options.MI_BACKTRACE.parse_words(given)
    arguments = _backtrace_arguments(parsed, parsed.has("all-threads"))
    found = json.loads(_ran("bt", [*arguments, *look_arguments(), *words("--json")]))
    return {"backtrace": jsonform.mi_value(found)}


def _caller(line: str) -> None:
    level = selected_level() or 0
    frame = [option("--frame", level), option("--pc", hex(selected_pc()))] if level else []
    arguments = [*core_and_program(), *frame, *_walk_arguments(Parsed())]
    _show("caller", [*arguments, *search_arguments(), *look_arguments()])


def _why(line: str) -> None:
    parsed = options.WHY.parse(line)
    arguments = [*core_and_program(), *_flags(parsed, "json"), *_walk_arguments(Parsed())]
    _show("why", [*arguments, *search_arguments(), *look_arguments()])


def _comparison(line: str) -> None:
    parsed = options.COMPARE.parse(line)
    arguments = [*core_and_program(), *_flags(parsed, "json", "shadow")]
    arguments += _walk_arguments(Parsed(), parsed.has("all"))
    if parsed.has("shadow"):
        _show("compare", [*arguments, *search_arguments(), *look_arguments()])
        return
    arguments += [*words("--gdb-frames=-"), *_width_arguments()]
    inferior, thread = readable_selection()
    frames = stacks_json(inferior.threads() if parsed.has("all") else [thread])
    _show("compare", [*arguments, *search_arguments(), *look_arguments()], frames)
    if not parsed.has("json"):
        write(attached.remark())


def _trace(line: str) -> None:
    parsed = options.TRACE.parse(line)
    valued = {option.name for option in options.TRACE.options if option.value}
    values = dict(parsed.values)
    if "output" in values:
        values["output"] = str(Path(values["output"]).expanduser())
    arguments = _flags(parsed, *sorted(parsed.flags - valued))
    arguments += [option(flag(each), value) for each, value in values.items()]
    if parsed.arguments:
        file = str(Path(parsed.arguments[0]).expanduser())
        more = [*search_arguments(), *look_arguments(), *behind_dashes(file)]
        _show("trace", [*arguments, *more])
        return
    _show("trace", [*core_and_program(), *arguments, *search_arguments(), *look_arguments()])


def _of_core(*more: str) -> list[Argument]:
    """The core and `more` as the arguments that stand by themselves, the program by its option."""
    core, *exe = core_and_program()
    programs = [option("--exe", path) for path in exe]
    return [*programs, *search_arguments(), *look_arguments(), *behind_dashes(core, *more)]


def _of_core_or_file(*more: str) -> list[Argument]:
    """The same, or of the program's file where that does not run."""
    file = file_alone()
    if file is None:
        return _of_core(*more)
    return [*search_arguments(), *look_arguments(), *behind_dashes(file, *more)]


def _functions(line: str) -> None:
    parsed = options.FUNCTIONS.parse(line)
    module = parsed.values.get("module", "")
    arguments = [option("--module", module)] if module else []
    _show("functions", [*_flags(parsed, "json"), *arguments, *_of_core_or_file(*parsed.arguments)])


def _symbol(line: str) -> None:
    expressions = wanted_expressions(line)
    if file_alone() is None:
        core_and_program()  # complains first
    words_wanted = []
    for address, function, refused in map(wanted_place, expressions):
        if address is None and not function:
            raise Error(refused)
        words_wanted.append(function if address is None else f"{address:#x}")
    _show("symbol", _of_core_or_file(*words_wanted))


def _modules(line: str) -> None:
    parsed = options.MODULES.parse(line)
    arguments = [*words("--settings-of-gdb"), *_flags(parsed, "json"), *_width_arguments()]
    _show("modules", [*core_and_program(), *arguments, *search_arguments(), *look_arguments()])


def _file_of_selected_frame() -> str:
    said = _ran("modules", [*core_and_program(), *words("--json"), *search_arguments()])
    modules = json.loads(said)["modules"]
    return module_file(
        (int(module["begin"], 16), int(module["end"], 16), module["state"], module["file"] or "",
         module["path"])
        for module in modules
    )  # fmt: skip


def _audit(line: str) -> None:
    parsed = options.AUDIT.parse(line)
    limit = option("--limit", wanted_limit(parsed))
    arguments = [limit, *_flags(parsed, "json"), *look_arguments()]
    file = audited_file(parsed, _file_of_selected_frame)
    _show("audit", [*arguments, *behind_dashes(file)])


def _signatures(line: str) -> None:
    parsed = options.SIGNATURES.parse(line)
    output = parsed.values.get("output", "")
    archives = [str(Path(path).expanduser()) for path in parsed.arguments]
    wanted = [option("--output", Path(output).expanduser())] if output else []
    _show("signatures", [*wanted, *behind_dashes(*archives)])


def _export(line: str) -> None:
    parsed = options.EXPORT.parse(line)
    module = parsed.values.get("module", "")
    arguments = [option("--module", module)] if module else []
    arguments += [option("--output", exported_file(parsed)), *search_arguments()]
    if gdb.selected_thread() is None:
        _show("export", [*arguments, *behind_dashes(program_file())])
        return
    core, *exe = core_and_program()
    programs = [option("--exe", path) for path in exe]
    _show("export", [*arguments, *programs, *behind_dashes(core)])


def _open(line: str) -> None:
    path, exe = wanted(options.OPEN.parse(line))
    if is_plain(path):
        load_plain(path, exe)
        return
    core = sparse.temporary()
    output = option("--output", sparse.path_of(core))
    arguments = [output, *words("--json"), *search_arguments()]
    arguments += [option("--exe", exe)] if exe else []
    load(core, of_json(json.loads(_ran("unpack", [*arguments, *behind_dashes(path)]))))


_COMMANDS: Mapping[str, Callable[[Any], Any]] = {
    "backtrace": _backtrace,
    "mi_backtrace": _mi_backtrace,
    "caller": _caller,
    "why": _why,
    "compare": _comparison,
    "trace": _trace,
    "functions": _functions,
    "symbol": _symbol,
    "modules": _modules,
    "audit": _audit,
    "signatures": _signatures,
    "export": _export,
    "open": _open,
}


def run_command(home: str, argument: Any, missing: NativeMissingError) -> Any:
    """What the module `home` would do with `argument`, done by another Python.

    Raises `missing` when there is no such Python.
    """
    command = _COMMANDS.get(home)
    if command is None or other_python() is None:
        raise missing
    return command(argument)

"""`whocall repair` in gdb."""

from __future__ import annotations

from collections.abc import Sequence

import gdb

from whocall.base.counted import counted
from whocall.base.errors import Error
from whocall.gdb.host.output import warn, write
from whocall.gdb.repair import events
from whocall.gdb.repair.attach import deliver
from whocall.gdb.repair.planning import RepairRequest, file_deliveries
from whocall.gdb.repair.reconcile import repair
from whocall.gdb.target.executable import program_file
from whocall.repair.outcomes import (
    ModuleOutcome,
    ThreadOutcome,
    is_notable,
    module_line,
    thread_lines,
    threads_line,
)
from whocall.shared_front_end.options import Parsed, syntax


def _files(parsed: Parsed) -> list[str]:
    """The files to tell gdb of before a program runs."""
    loaded = [
        str(objfile.filename)
        for objfile in gdb.objfiles()
        if objfile.owner is None and objfile.filename
    ]
    if parsed.has("all"):
        return loaded
    if not parsed.arguments:
        return [program_file()]
    found = []
    for name in parsed.arguments:
        fitting = [path for path in loaded if path == name or path.endswith(f"/{name}")]
        if not fitting:
            raise Error(f"no file {name} is loaded in gdb")
        found += fitting
    return found


def _repair_files(parsed: Parsed) -> list[ModuleOutcome]:
    """Names and rules for files that do not run yet."""
    outcomes = []
    for path in _files(parsed):
        outcomes += deliver(file_deliveries(path))
    return outcomes


def run(line: str) -> None:
    """Repairs the stacks of all threads, and goes on doing so whenever the program stops."""
    parsed = syntax("repair").parse(line)
    modules: Sequence[ModuleOutcome]
    threads: Sequence[ThreadOutcome] = ()
    arguments = 0
    if gdb.selected_thread() is None:
        modules = _repair_files(parsed)
    else:
        modules, threads, arguments = repair(
            RepairRequest(every_module=parsed.has("all"), modules=parsed.arguments)
        )
    events.watch()
    show(modules, threads, arguments)


def show(
    modules: Sequence[ModuleOutcome], threads: Sequence[ThreadOutcome], arguments: int = 0
) -> None:
    """What was done, and how gdb's stacks are now."""
    warn(f"gdb was told nothing of it: {module.refused}." for module in modules if module.refused)
    warn(
        f"gdb's stack of thread {outcome.number} still differs from frame #{outcome.parts_at} on."
        for outcome in threads
        if outcome.parts_at is not None
    )
    write(line for line in map(module_line, modules) if line is not None)
    if arguments:
        write([f"arguments of {counted(arguments, 'function')}: a1, a2, ... in gdb's frames"])
    notable = [outcome for outcome in threads if is_notable(outcome)]
    write(thread_lines(notable))
    if threads:
        write(threads_line(len(notable), len(threads)))

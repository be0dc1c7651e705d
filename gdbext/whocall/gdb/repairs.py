"""`whocall repair` in gdb."""

from __future__ import annotations

from collections.abc import Sequence

import gdb

from whocall.errors import Error
from whocall.gdb import parameters, repair_events
from whocall.gdb.giving import give_image_modules
from whocall.gdb.inferior import current, executable
from whocall.gdb.output import warn, write
from whocall.gdb.repairing import repair
from whocall.image import ProcessImage, open_file_image
from whocall.options import REPAIR, Parsed
from whocall.repair import module_named
from whocall.repair_report import (
    ModuleOutcome,
    ThreadOutcome,
    module_line,
    thread_line,
    threads_line,
)


def _named(image: ProcessImage, parsed: Parsed) -> list[int]:
    if parsed.has("all"):
        return [module.index for module in image.modules]
    return [module_named(image, name).index for name in parsed.arguments]


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
        exe = executable(gdb.selected_inferior())
        if not exe:
            raise Error('There is no program.  Use "file PROGRAM" or "core-file CORE" first.')
        return [exe]
    found = []
    for name in parsed.arguments:
        fitting = [path for path in loaded if path == name or path.endswith(f"/{name}")]
        if not fitting:
            raise Error(f"gdb has loaded no file {name}")
        found += fitting
    return found


def _repair_files(parsed: Parsed) -> list[ModuleOutcome]:
    """Names and rules for files that do not run yet."""
    outcomes = []
    for path in _files(parsed):
        image = open_file_image(path, search=parameters.search())
        outcomes += give_image_modules(image, {0: set()})
    return outcomes


def run(line: str) -> None:
    """Repairs the stacks of all threads, and goes on doing so whenever the program stops."""
    parsed = REPAIR.parse(line)
    modules: Sequence[ModuleOutcome]
    threads: Sequence[ThreadOutcome] = ()
    if gdb.selected_thread() is None:
        modules = _repair_files(parsed)
    else:
        now = current(every_thread=True)
        modules, threads = repair(now, now.every_thread(), _named(now.image, parsed))
    repair_events.watch()
    show(modules, threads)


def show(modules: Sequence[ModuleOutcome], threads: Sequence[ThreadOutcome]) -> None:
    """What was done, and how gdb's stacks are now."""
    warn(
        f"gdb's stack of thread {outcome.number} still differs from frame #{outcome.parts_at} on."
        for outcome in threads
        if outcome.parts_at is not None
    )
    write(line for line in map(module_line, modules) if line is not None)
    changed = [outcome for outcome in threads if outcome.before != outcome.after]
    write(map(thread_line, changed))
    if threads:
        write(threads_line(len(changed), len(threads)))

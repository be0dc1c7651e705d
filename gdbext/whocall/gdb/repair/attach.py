"""Attaches symbol files to gdb's object files, and tells what was attached before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

import gdb

from whocall.base.errors import Error
from whocall.base.gdb_lines import named
from whocall.gdb.host import console, settings
from whocall.gdb.repair import attached
from whocall.gdb.target.auxiliary_vector import AT_ENTRY, auxiliary_vector
from whocall.repair.outcomes import ModuleOutcome
from whocall.repair.plan import (
    AttachedState,
    ModuleState,
    SymbolDelivery,
    SymbolFileFactory,
    is_same_file,
    settings_key,
)


def file_factory() -> SymbolFileFactory:
    """How files for this gdb are made, by the settings."""
    return SymbolFileFactory(settings_key(settings.search()), attached.session_file)


def attached_states() -> list[AttachedState]:
    """What was attached to the modules of the current program space."""
    known = attached.records()
    found = [
        AttachedState(each.path, "", each.bias, each.state)
        for each in known
        if each.objfile is None
    ]
    states = [(each.objfile, each.state) for each in known if each.objfile is not None]
    owners = attached.with_debug_files()
    for objfile in gdb.current_progspace().objfiles():
        if objfile.owner is not None or not objfile.filename:
            continue
        state = next((state for other, state in states if other == objfile), ModuleState())
        state = replace(state, debug_file=objfile in owners)
        found.append(AttachedState(objfile.filename, objfile.build_id or "", None, state))
    return found


def _objfile_of(paths: Collection[str], build_id: str) -> gdb.Objfile | None:
    """gdb's object file of a module with one of these paths; None when gdb has none, or that of
    another build.
    """
    for objfile in gdb.current_progspace().objfiles():
        name, found_id = objfile.filename, objfile.build_id or ""
        if objfile.owner is None and name and is_same_file(name, found_id, paths, build_id):
            return objfile
    return None


def _is_elsewhere(objfile: gdb.Objfile, bias: int) -> bool:
    """Whether gdb has the program elsewhere than it lies, `bias` bytes above where it was linked.

    Of position-independent programs in cores without the first page of the file, such as
    qemu-user's, gdb does not find out where they were loaded; and `file` with the core of another
    program still open puts them where that one lay.
    """
    if not bias or objfile.filename != gdb.current_progspace().filename:
        return False
    said = console.said("info files")
    shown = re.search(r"exec file:.*?Entry point: 0x([0-9a-f]+)", said, re.DOTALL)
    entry = auxiliary_vector().get(AT_ENTRY)
    return shown is not None and entry is not None and int(shown.group(1), 16) | 1 != entry | 1


def _objfile_in_place(delivery: SymbolDelivery) -> gdb.Objfile | None:
    """gdb's object file of the module; of a program that it has elsewhere, read where it lies.

    Raises Error where gdb cannot be given the program's name.
    """
    paths = (delivery.path, delivery.file_path)
    objfile = _objfile_of(paths, delivery.build_id)
    if objfile is None or attached.was_moved(objfile) or not _is_elsewhere(objfile, delivery.bias):
        return objfile
    console.said("symbol-file -o", delivery.bias, named(objfile.filename or ""))
    moved = _objfile_of(paths, delivery.build_id)
    attached.record(moved, delivery.path, delivery.bias).moved = moved is not None
    return moved


def note_delivery(delivery: SymbolDelivery, objfile: gdb.Objfile) -> None:
    """Records that gdb takes the files of the delivery by itself."""
    known = attached.record(objfile, delivery.path, delivery.bias)
    known.state = delivery.state
    known.files += delivery.files


def _deliver(delivery: SymbolDelivery, process: tuple[int, int | None]) -> ModuleOutcome:
    """Raises Error where gdb cannot be given a file's name; it was told nothing then."""
    objfile = _objfile_in_place(delivery)
    known = attached.record(objfile, delivery.path, delivery.bias)
    known.process = process
    if known.objfile is None and delivery.file_path:
        known.load(delivery.file_path)
    known.attach(delivery.files)
    state = known.state = delivery.state
    return ModuleOutcome(delivery.path, state.named, state.unnamed, len(state.ruled))


def deliver(deliveries: Iterable[SymbolDelivery]) -> list[ModuleOutcome]:
    """Attaches the files of the deliveries, but for those whose names gdb cannot be given."""
    outcomes = []
    process = attached.process_now()
    for delivery in deliveries:
        try:
            outcomes.append(_deliver(delivery, process))
        except Error as error:
            outcomes.append(ModuleOutcome(delivery.path, 0, 0, 0, str(error)))
    return outcomes

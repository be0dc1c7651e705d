"""Attaches symbol files to gdb's object files, and tells what was attached before."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import gdb

from whocall.gdb.host import settings
from whocall.gdb.repair import attached
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


def note_delivery(delivery: SymbolDelivery, objfile: gdb.Objfile) -> None:
    """Records that gdb takes the files of the delivery by itself."""
    known = attached.record(objfile, delivery.path, delivery.bias)
    known.state = delivery.state
    known.files += delivery.files


def deliver(deliveries: Iterable[SymbolDelivery]) -> list[ModuleOutcome]:
    """Attaches the files of the deliveries."""
    outcomes = []
    for delivery in deliveries:
        objfile = _objfile_of((delivery.path, delivery.file_path), delivery.build_id)
        known = attached.record(objfile, delivery.path, delivery.bias)
        if known.objfile is None and delivery.file_path:
            known.load(delivery.file_path)
        known.attach(delivery.files)
        state = known.state = delivery.state
        outcomes.append(ModuleOutcome(delivery.path, state.named, state.unnamed, len(state.ruled)))
    return outcomes

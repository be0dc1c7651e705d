"""Gives gdb the symbol files of modules: tells what gdb has, finds its object file of each module
and hands over what it lacks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import gdb

from whocall.gdb.host import settings
from whocall.gdb.repair import attached
from whocall.repair.outcomes import ModuleOutcome
from whocall.repair.plan import Gift, ModuleState, Told, Workshop, is_same_file, settings_key


def workshop() -> Workshop:
    """How files for this gdb are made, by the settings."""
    return Workshop(settings_key(settings.search()), attached.session_file)


def told() -> list[Told]:
    """What gdb was told about the modules of the current program space."""
    known = attached.records()
    found = [Told(each.path, "", each.bias, each.state) for each in known if each.objfile is None]
    states = [(each.objfile, each.state) for each in known if each.objfile is not None]
    owners = attached.with_debug_files()
    for objfile in gdb.current_progspace().objfiles():
        if objfile.owner is not None or not objfile.filename:
            continue
        state = next((state for other, state in states if other == objfile), ModuleState())
        state = replace(state, debug_file=objfile in owners)
        found.append(Told(objfile.filename, objfile.build_id or "", None, state))
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


def note(gift: Gift, objfile: gdb.Objfile) -> None:
    """Writes down that gdb takes the files of the gift by itself."""
    known = attached.record(objfile, gift.path, gift.bias)
    known.state = gift.state
    known.files += gift.files


def give(gifts: Iterable[Gift]) -> list[ModuleOutcome]:
    """Gives gdb the files."""
    outcomes = []
    for gift in gifts:
        objfile = _objfile_of((gift.path, gift.file_path), gift.build_id)
        known = attached.record(objfile, gift.path, gift.bias)
        if known.objfile is None and gift.file_path:
            known.load(gift.file_path)
        known.attach(gift.files)
        state = known.state = gift.state
        outcomes.append(ModuleOutcome(gift.path, state.named, state.unnamed, len(state.ruled)))
    return outcomes

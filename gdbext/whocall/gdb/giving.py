"""Gives gdb the symbol files of modules: finds gdb's object file of each, has made what it lacks,
and hands it over.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import gdb

from whocall.gdb import attached, parameters
from whocall.gdb.attached import Attached
from whocall.image import ProcessImage
from whocall.repair import module_file, more_rules
from whocall.repair_report import ModuleOutcome
from whocall.symbol_cache import Kept


def settings_key() -> str:
    """What names depend on beside the module: the lists and archives that the user gave."""
    search = parameters.search()
    told = [repr((search.symbol_files, search.signature_files, search.debuginfod))]
    for path in (*search.symbol_files, *search.signature_files):
        try:
            status = Path(path.rpartition("=")[2].partition("@")[0]).stat()
            told.append(f"{status.st_mtime_ns} {status.st_size}")
        except OSError:
            told.append("none")
    return "\0".join(told)


def objfile_of(paths: Collection[str], build_id: str) -> gdb.Objfile | None:
    """gdb's object file of a module with one of these paths; None when gdb has none, or that of
    another build.
    """
    real = {os.path.realpath(path) for path in paths if path}
    for objfile in gdb.current_progspace().objfiles():
        if objfile.owner is None and objfile.filename:
            same = not (build_id and objfile.build_id) or build_id == objfile.build_id
            if same and os.path.realpath(objfile.filename) in real:
                return objfile
    return None


def _first_file(known: Attached, image: ProcessImage, index: int, settings: str) -> Path | None:
    """The file with names and the first rules of a module; None when there is nothing to tell."""
    debug_names = known.objfile is None or not attached.has_debug_file(known.objfile)
    made, facts = module_file(image, index, settings, debug_names)
    known.begin(facts)
    if isinstance(made, Kept):
        return None if made.empty else made.path
    return attached.session_file(made) if made else None


def file_of_objfile(image: ProcessImage, objfile: gdb.Objfile) -> Path | None:
    """The file for an object file that gdb is just loading and will be given; `image` is that of
    the file alone. None when there is nothing to tell, or it was told.
    """
    known = attached.begin(objfile, image.modules[0])
    path = None if known.begun else _first_file(known, image, 0, settings_key())
    if path is not None:
        known.files.append(path)
    return path


def _give(
    image: ProcessImage, index: int, wanted: Collection[int], settings: str
) -> ModuleOutcome | None:
    """Gives gdb what it lacks for image.modules[index], the rules at `wanted` among it.

    None when no file of the module was found.
    """
    module = image.modules[index]
    if module.state not in ("found", "in memory"):
        return None
    build_id = module.build_id_in_memory or module.build_id_on_disk
    objfile = objfile_of((module.path, module.file_path), build_id)
    known = attached.begin(objfile, module)
    if not known.begun:
        path = _first_file(known, image, index, settings)
        if path is not None:
            known.attach(path)
    rules = more_rules(image, index, wanted, known.state)
    if rules is not None:
        known.attach(attached.session_file(rules))
    state = known.state
    return ModuleOutcome(module.path, state.named, state.unnamed, len(state.ruled))


def give_image_modules(
    image: ProcessImage, wanted: Mapping[int, Collection[int]]
) -> list[ModuleOutcome]:
    """Gives gdb the files of image.modules[i] for each i in `wanted`, whose values are runtime
    addresses in functions on the stacks.
    """
    settings = settings_key()
    given = [_give(image, index, pcs, settings) for index, pcs in sorted(wanted.items())]
    return [outcome for outcome in given if outcome is not None]

"""Making gdb's own frames those that whocall finds: gives gdb names and rules for the modules in
which frames lie, looks whether its stacks are right then, and leads it on frame by frame where not.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from whocall.gdb import attached, parameters, pins
from whocall.gdb.frames import past_main, selection_kept
from whocall.gdb.inferior import Current
from whocall.gdb.walks import walk_of
from whocall.options import Parsed
from whocall.repair import Chain, chain_of, module_file, modules_of, more_rules
from whocall.symbol_cache import Kept

if TYPE_CHECKING:
    from whocall import _native as native

MOST_PINS = 256  # of one stack, beyond those that are known to be needed
BEYOND = 16  # frames that gdb may show behind the end of a chain before we stop looking


@dataclass
class ModuleOutcome:
    """What gdb knows of a module now."""

    path: str
    named: int
    unnamed: int
    ruled: int  # functions whose rules it was given


@dataclass(frozen=True)
class Agreement:
    """How gdb's stack of a thread is beside the true chain."""

    true: int  # frames of the chain that gdb has, in their order
    false: int  # other frames that gdb has


@dataclass
class ThreadOutcome:
    """How gdb's stack of a thread agrees with the true chain."""

    number: int
    frames: int  # of the true chain
    before: Agreement
    after: Agreement
    pinned: int  # frames that gdb was told of one by one
    parts_at: int | None  # level of the first frame that gdb still has wrong


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


def objfile_of(module: native.Module) -> gdb.Objfile | None:
    """gdb's object file of the module; None when gdb has none."""
    build_id = module.build_id_in_memory or module.build_id_on_disk
    paths = {os.path.realpath(path) for path in (module.path, module.file_path) if path}
    for objfile in gdb.current_progspace().objfiles():
        if objfile.owner is not None or not objfile.filename:
            continue
        if os.path.realpath(objfile.filename) in paths:
            same = not (build_id and objfile.build_id) or build_id == objfile.build_id
            return objfile if same else None
    return None


def repair_module(
    now: Current, index: int, wanted: Collection[int] = (), settings: str = ""
) -> ModuleOutcome | None:
    """Gives gdb what it lacks for image.modules[index], the rules at `wanted` among it.

    None when gdb has no object file for the module, or no file was found.
    """
    module = now.image.modules[index]
    objfile = objfile_of(module) if module.state in ("found", "in memory") else None
    if objfile is None:
        return None
    known = attached.begin(objfile)
    if not known.begun:
        known.begun = True
        debug_names = not attached.has_debug_file(objfile)
        made, facts = module_file(now.image, index, settings, debug_names)
        known.state.named, known.state.unnamed = facts["named"], facts["unnamed"]
        known.state.ruled.update(facts["ruled"])
        known.state.complete = facts["complete"]
        if isinstance(made, Kept):
            path = None if made.empty else made.path
        else:
            path = attached.session_file(made) if made else None
        if path is not None:
            attached.attach(known, path)
    rules = more_rules(now.image, index, wanted, known.state)
    if rules is not None:
        attached.attach(known, attached.session_file(rules))
    state = known.state
    return ModuleOutcome(module.path, state.named, state.unnamed, len(state.ruled))


def chains_of(now: Current, indices: Sequence[int]) -> dict[int, Chain]:
    """The true chains by gdb's thread number."""
    walk = replace(walk_of(Parsed(), past_main=True), registers=True, lines=False)
    found = {}
    for at in indices:
        if at in now.numbers:
            found[now.numbers[at]] = chain_of(now.image.backtrace(at, walk))
    return found


def _gdb_pcs(limit: int) -> Iterator[int]:
    """The pcs of gdb's frames of the selected thread, without inlined and tail calls."""
    try:
        frame = gdb.newest_frame()
        for _ in range(limit):
            if frame is None:
                return
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                yield frame.pc()
            frame = frame.older()
    except gdb.error:
        return  # gdb cannot go on: the chain ends here


def _agreement(chain: Chain) -> Agreement:
    at = seen = 0
    for pc in _gdb_pcs(len(chain.steps) + BEYOND):
        seen += 1
        if at < len(chain.steps) and chain.steps[at].pc == pc:
            at += 1
    return Agreement(at, seen - at)


def _first_difference(chain: Chain) -> int | None:
    """The level from which on gdb's stack is another; None when it is the same."""
    level = 0
    for pc in _gdb_pcs(len(chain.steps) + BEYOND):
        if level >= len(chain.steps) or chain.steps[level].pc != pc:
            return level
        level += 1
    return None if level == len(chain.steps) else level


def _lead(thread: gdb.InferiorThread, chain: Chain, pc_name: str) -> tuple[int, int | None]:
    """Pins frames until gdb's stack is the chain.

    Returns how many were pinned, and the level at which gdb still differs.
    """
    pinned = sum(pins.pin(thread, step, pc_name) for step in chain.steps if not step.ruled)
    for _ in range(MOST_PINS):
        level = _first_difference(chain)
        if level is None or level == 0:
            return pinned, level
        if not pins.pin(thread, chain.steps[level - 1], pc_name):
            return pinned, level
        pinned += 1
    return pinned, _first_difference(chain)


def repair(
    now: Current, indices: Sequence[int], every_module: bool = False
) -> tuple[list[ModuleOutcome], list[ThreadOutcome]]:
    """Repairs the stacks of the threads image.threads[i] for the `indices`."""
    chains = chains_of(now, indices)
    threads = {thread.num: thread for thread in gdb.selected_inferior().threads()}
    settings = settings_key()
    with selection_kept(), past_main():
        before = {}
        for number, chain in chains.items():
            threads[number].switch()
            before[number] = _agreement(chain)
        wanted = modules_of(now.image, chains.values())
        if every_module:
            wanted = {module.index: wanted.get(module.index, set()) for module in now.image.modules}
        found = [repair_module(now, at, pcs, settings) for at, pcs in sorted(wanted.items())]
        outcomes = []
        for number, chain in chains.items():
            threads[number].switch()
            pinned, parts_at = _lead(threads[number], chain, now.image.native.pc_name)
            outcomes.append(
                ThreadOutcome(
                    number, len(chain.steps), before[number], _agreement(chain), pinned, parts_at
                )
            )
    return [outcome for outcome in found if outcome is not None], outcomes

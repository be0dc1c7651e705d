"""Plans of repairs, made by the native module in this Python or in another one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import gdb

from whocall.core import programs
from whocall.core.errors import NativeMissingError
from whocall.core.programs import Argument, option, words
from whocall.frontend.options import Parsed
from whocall.gdb.host import settings
from whocall.gdb.host.subprocess_backend import other_python, run_in_subprocess
from whocall.gdb.repair import attach, attached
from whocall.gdb.repair.left_behind import drop_left_behind
from whocall.gdb.target.backend_arguments import (
    core_and_program,
    search_arguments,
    strategy_arguments,
)
from whocall.gdb.target.frames import lwp_of
from whocall.gdb.target.inferior import Current, current
from whocall.gdb.target.walks import walk_of
from whocall.repair.chain import Chain, chain_of
from whocall.repair.plan import Plan, SymbolDelivery, chosen_modules, plan
from whocall.repair.plan_json import attached_json, plan_from


@dataclass(frozen=True)
class RepairRequest:
    """Whose stacks, and which modules beside those in which their frames lie."""

    every_thread: bool = True
    every_module: bool = False
    modules: Sequence[str] = ()


def process_plan(request: RepairRequest) -> tuple[Plan, dict[int, Chain]]:
    """What makes the stacks of the selected inferior right, and its chains by gdb's thread number.

    Raises Error, and NativeMissingError when no Python can tell.
    """
    drop_left_behind()
    try:
        now = current(request.every_thread)
    except NativeMissingError:
        if other_python() is None:
            raise
        found = _process_plan_in_subprocess(request)
        return found, _numbered(found.chains)
    return _process_plan_here(now, request)


def _process_plan_here(now: Current, request: RepairRequest) -> tuple[Plan, dict[int, Chain]]:
    walk = replace(walk_of(Parsed(), past_main=True), registers=True, lines=False)
    indices = now.every_thread() if request.every_thread else [now.selected]
    chains = {
        now.numbers[at]: chain_of(now.image.backtrace(at, walk))
        for at in indices
        if at in now.numbers
    }
    more = chosen_modules(now.image, request.every_module, request.modules)
    found = plan(
        now.image, list(chains.values()), more, attach.attached_states(), attach.file_factory()
    )
    return found, chains


def _process_plan_in_subprocess(request: RepairRequest) -> Plan:
    arguments = [*core_and_program(), *strategy_arguments(Parsed())]
    thread = gdb.selected_thread()
    if not request.every_thread and thread is not None:
        arguments.append(option("--thread", lwp_of(thread)))
    arguments += words("--every-module") * request.every_module
    arguments += [option("--module", name) for name in request.modules]
    return _plan_in_subprocess(arguments)


def _plan_in_subprocess(arguments: Sequence[Argument]) -> Plan:
    folder = option("--folder", attached.session_folder())
    states = json.dumps(attached_json(attach.attached_states()))
    options = [folder, *words("--attached=-"), *search_arguments()]
    command = [*words("repair-plan"), *arguments, *options]
    return plan_from(json.loads(run_in_subprocess(command, states)))


def _numbered(chains: Sequence[Chain]) -> dict[int, Chain]:
    """By gdb's number of the thread; a core of one thread may have no LWP in gdb."""
    threads = gdb.selected_inferior().threads()
    by_lwp = {lwp_of(thread): thread.num for thread in threads}
    found = {by_lwp[chain.lwp]: chain for chain in chains if chain.lwp in by_lwp}
    if not found and len(threads) == 1 and len(chains) == 1:
        return {threads[0].num: chains[0]}
    return found


def file_deliveries(path: str) -> Sequence[SymbolDelivery]:
    """What is to be given for a file that does not run yet. Raises Error."""
    try:
        from whocall.core.image import open_file_image
    except NativeMissingError:
        if other_python() is None:
            raise
        return _plan_in_subprocess([programs.path(path)]).deliveries
    image = open_file_image(path, search=settings.search())
    return plan(image, [], [0], attach.attached_states(), attach.file_factory()).deliveries

"""Plans of repairs, made by the native module in this Python or in another one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gdb

from whocall.base import programs
from whocall.base.errors import Error, NativeMissingError
from whocall.base.programs import Argument, option, words
from whocall.gdb.host import settings
from whocall.gdb.host.subprocess_backend import other_python, run_in_subprocess
from whocall.gdb.repair import attach, attached
from whocall.gdb.repair.left_behind import drop_left_behind
from whocall.gdb.target.answering import (
    Answer,
    answer,
    answer_of_files,
    has_helper_for_process,
)
from whocall.gdb.target.backend_arguments import (
    core_and_program,
    search_arguments,
    strategy_arguments,
)
from whocall.gdb.target.inferior import current
from whocall.gdb.target.threads import lwp_of
from whocall.gdb.target.walks import walk_of, wanted_walk
from whocall.gdb_helper.current import Current
from whocall.gdb_helper.output import placeholder
from whocall.repair import symbol_cache
from whocall.repair.chain import Chain, chain_of
from whocall.repair.plan import Plan, SymbolDelivery, chosen_modules, is_same_file, plan
from whocall.repair.plan_json import attached_json, plan_from
from whocall.shared_front_end.options import Parsed

_NO_PLAN = "whocall's helper answers what is no plan of a repair"


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
        if has_helper_for_process():
            return _process_plan_of_helper(request)
        now = current(request.every_thread)
    except NativeMissingError:
        if other_python() is None:
            raise
        found = _process_plan_in_subprocess(request)
        return found, _numbered(found.chains)
    return _process_plan_here(now, request)


def _process_plan_of_helper(request: RepairRequest) -> tuple[Plan, dict[int, Chain]]:
    wanted = {
        "walk": {**wanted_walk(Parsed(), past_main=True), "registers": True, "lines": False},
        "every_module": request.every_module,
        "modules": list(request.modules),
        "attached": attached_json(attach.attached_states()),
    }
    answered = answer("plans.plan", wanted, every_thread=request.every_thread)
    found = _plan_of(answered)
    try:
        numbers = [int(number) for number in answered.result["numbers"]]
    except (ValueError, TypeError, KeyError) as error:
        raise Error(_NO_PLAN) from error
    return found, dict(zip(numbers, found.chains))


def _plan_of(answered: Answer) -> Plan:
    """With the files written that the helper has made the contents of."""
    try:
        found = plan_from(answered.result["plan"])
        files = list(zip(answered.contents, answered.result["kept"]))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Error(_NO_PLAN) from error
    written = {placeholder(at): _written(*each) for at, each in enumerate(files)}
    return replace(
        found,
        deliveries=[
            replace(each, files=[_place(path, written) for path in each.files])
            for each in found.deliveries
        ],
        arguments=found.arguments
        and replace(found.arguments, file=_place(found.arguments.file, written)),
    )


def _written(contents: bytes | memoryview, kept: Any) -> Path:
    if kept is None:
        return attached.session_file(contents)
    if not symbol_cache.is_key(kept["key"]):
        raise Error(_NO_PLAN)
    return symbol_cache.keep(kept["key"], contents, kept["facts"]).path


def _place(path: Path, written: Mapping[str, Path]) -> Path:
    """What is to be given to gdb is one of our own files."""
    place = written.get(str(path), path)
    if place.parent not in (symbol_cache.directory(), attached.session_folder()):
        raise Error(_NO_PLAN)
    return place


def _process_plan_here(now: Current, request: RepairRequest) -> tuple[Plan, dict[int, Chain]]:
    walk = replace(walk_of(Parsed(), past_main=True), registers=True, lines=False)
    indices = now.every_thread() if request.every_thread else [now.selected]
    traces = {now.numbers[at]: now.image.backtrace(at, walk) for at in indices if at in now.numbers}
    chains = {number: chain_of(trace) for number, trace in traces.items()}
    more = chosen_modules(now.image, request.every_module, request.modules)
    found = plan(
        now.image,
        list(chains.values()),
        more,
        attach.attached_states(),
        attach.file_factory(),
        list(traces.values()),
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
        if settings.has_helper():
            known = attach.attached_states()
            states = [each for each in known if is_same_file(each.path, "", [path], "")]
            wanted = {"file": path, "attached": attached_json(states)}
            return _plan_of(answer_of_files("plans.plan_of_file", wanted)).deliveries
        from whocall.base.process_image import open_file_image
    except NativeMissingError:
        if other_python() is None:
            raise
        return _plan_in_subprocess([programs.path(path)]).deliveries
    image = open_file_image(path, search=settings.search())
    return plan(image, [], [0], attach.attached_states(), attach.file_factory()).deliveries

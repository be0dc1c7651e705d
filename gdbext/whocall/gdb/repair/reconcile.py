"""Making gdb's own frames those that whocall finds: gives gdb names and rules for the modules in
which frames lie, looks whether its stacks are right then, and leads it on frame by frame where not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import gdb

from whocall.gdb.repair import frame_overrides
from whocall.gdb.repair.attach import deliver
from whocall.gdb.repair.planning import RepairRequest, process_plan
from whocall.gdb.target.frames import past_main, selection_kept
from whocall.repair.chain import Chain, RegisterNames
from whocall.repair.outcomes import Agreement, ModuleOutcome, ThreadOutcome

MOST_OVERRIDES = 256  # of one stack, beyond those that are known to be needed
BEYOND = 16  # frames that gdb may show behind the end of a chain before we stop looking


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


def _looked_at(chain: Chain) -> int:
    """How many of gdb's frames are held against the chain: of one that is too long to be looked
    through, those that it tells.
    """
    return len(chain.steps) + (0 if chain.more else BEYOND)


def _agreement(chain: Chain) -> Agreement:
    at = seen = 0
    for pc in _gdb_pcs(_looked_at(chain)):
        seen += 1
        if at < len(chain.steps) and chain.steps[at].pc == pc:
            at += 1
    return Agreement(at, seen - at)


def _first_difference(chain: Chain) -> int | None:
    """The level from which on gdb's stack is another; None when it is the same."""
    level = 0
    for pc in _gdb_pcs(_looked_at(chain)):
        if level >= len(chain.steps) or chain.steps[level].pc != pc:
            return level
        level += 1
    return None if level == len(chain.steps) else level


def _lead(thread: gdb.InferiorThread, chain: Chain, names: RegisterNames) -> tuple[int, int | None]:
    """Overrides frames until gdb's stack is the chain.

    Returns how many were overridden, and the level at which gdb still differs.
    """
    known = (*chain.steps, *chain.last)
    overridden = sum(
        frame_overrides.override(thread, step, names) for step in known if not step.ruled
    )
    for _ in range(MOST_OVERRIDES):
        level = _first_difference(chain)
        if level is None or level == 0:
            return overridden, level
        if not frame_overrides.override(thread, chain.steps[level - 1], names):
            return overridden, level
        overridden += 1
    return overridden, _first_difference(chain)


def reconcile(
    chains: Mapping[int, Chain],
    names: RegisterNames,
    deliver: Callable[[], list[ModuleOutcome]],
) -> tuple[list[ModuleOutcome], list[ThreadOutcome]]:
    """Makes gdb's stacks of the threads with these numbers the chains.

    `deliver` hands gdb the files of all modules concerned; `names` are gdb's names of registers.
    """
    everyone = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    threads = {thread.num: thread for thread in everyone if thread.num in chains}
    with selection_kept(), past_main():
        before = {}
        for number, thread in threads.items():
            thread.switch()
            before[number] = _agreement(chains[number])
        modules = deliver()
        outcomes = []
        for number, thread in threads.items():
            chain = chains[number]
            thread.switch()
            overridden, parts_at = _lead(thread, chain, names)
            after = _agreement(chain)
            outcomes.append(
                ThreadOutcome(
                    number,
                    len(chain.steps),
                    before[number],
                    after,
                    overridden,
                    parts_at,
                    chain.more,
                    chain.unruled,
                )
            )
    return modules, outcomes


def repair(request: RepairRequest) -> tuple[list[ModuleOutcome], list[ThreadOutcome]]:
    """Repairs the stacks of the selected inferior. Raises Error."""
    found, chains = process_plan(request)
    return reconcile(chains, found.registers, lambda: deliver(found.deliveries))

"""Making gdb's own frames those that whocall finds: gives gdb names and rules for the modules in
which frames lie, looks whether its stacks are right then, and leads it on frame by frame where not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic

import gdb

from whocall.base.errors import Error
from whocall.gdb.repair import frame_overrides, told_arguments
from whocall.gdb.repair.attach import deliver
from whocall.gdb.repair.endless import endless_steps
from whocall.gdb.repair.own_frames import Ranges, with_own_frame
from whocall.gdb.repair.planning import RepairRequest, process_plan
from whocall.gdb.target.frames import past_main, selection_kept
from whocall.repair.chain import Chain, RegisterNames, Step
from whocall.repair.outcomes import Agreement, ModuleOutcome, ThreadOutcome

FEW_LEADS = 4  # after which the frames that are led at a time double
MOST_LEADS = 256  # of one stack, beyond the frames that are known to need it
PATIENCE = 1.0  # seconds for how a stack was before: nobody needs to know that
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


def _agreement(chain: Chain, pcs: Iterable[int]) -> Agreement:
    at = seen = 0
    for pc in pcs:
        seen += 1
        if at < len(chain.steps) and chain.steps[at].pc == pc:
            at += 1
    return Agreement(at, seen - at)


class _TooLongError(Exception):
    pass


def _for_a_while(pcs: Iterator[int]) -> Iterator[int]:
    """gdb 13 takes 2 ms for a frame of ARM that it finds by the tables of exceptions."""
    end = monotonic() + PATIENCE
    for pc in pcs:
        if monotonic() > end:
            raise _TooLongError
        yield pc


def _agreement_before(chain: Chain) -> Agreement | None:
    try:
        return _agreement(chain, _for_a_while(_gdb_pcs(_looked_at(chain))))
    except _TooLongError:
        return None


def _first_difference(chain: Chain) -> int | None:
    """The level from which on gdb's stack is another; None when it is the same."""
    level = 0
    for pc in _gdb_pcs(_looked_at(chain)):
        if level >= len(chain.steps) or chain.steps[level].pc != pc:
            return level
        level += 1
    return None if level == len(chain.steps) else level


def _pass_endless(thread: gdb.InferiorThread, chain: Chain, names: RegisterNames) -> int:
    steps = endless_steps((*chain.steps, *chain.last))
    return sum(frame_overrides.override(thread, step, names) for step in steps)


def _override(thread: gdb.InferiorThread, steps: Iterable[Step], names: RegisterNames) -> int:
    """How many of them gdb was not led by before."""
    return sum(frame_overrides.override(thread, step, names) for step in steps)


def _lead(thread: gdb.InferiorThread, chain: Chain, names: RegisterNames) -> tuple[int, int | None]:
    """Overrides frames until gdb's stack is the chain.

    Returns how many were overridden, and the level at which gdb still differs.
    """
    known = (*chain.steps, *chain.last)
    # Of a chain that is too long to be told, gdb finds the rest only with all registers: what it
    # finds by itself stays its own.
    if chain.more and chain.unruled and _first_difference(chain) is None:
        return 0, None
    overridden = _override(thread, [step for step in known if not step.ruled], names)
    for leads in range(MOST_LEADS):
        level = _first_difference(chain)
        if level is None or level == 0:
            return overridden, level
        # Situation: gdb is wrong at every other frame. Example: a damaged chain of 984 frames in a
        # static program, where each look from the innermost frame on makes 13 s in all. Remedy:
        # after so many, twice as many frames are led at a time.
        below = level - 1
        led = _override(thread, chain.steps[below : below + (1 << leads // FEW_LEADS)], names)
        # Situation: gdb gives up a stack at a frame whose own unwinder fails. Example: gdb 13 at
        # qemu's signal frames of AArch64 ("Invalid vector length in signal frame"); its Python
        # looks at such a one together with the frame below. Remedy: where leading gdb to a frame
        # does not show it, gdb is led on from that frame as well, and from the next.
        for step in chain.steps[level : level + 2]:
            led = led or _override(thread, [step], names)
        if not led:
            return overridden, level
        overridden += led
    return overridden, _first_difference(chain)


def reconcile(
    chains: Mapping[int, Chain],
    names: RegisterNames,
    deliver: Callable[[], list[ModuleOutcome]],
    code: Ranges = (),
) -> tuple[list[ModuleOutcome], list[ThreadOutcome]]:
    """Makes gdb's stacks of the threads with these numbers the chains.

    `deliver` hands gdb the files of all modules concerned; `names` are gdb's names of registers;
    `code` is where code may lie.
    """
    everyone = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    threads = {thread.num: thread for thread in everyone if thread.num in chains}
    chains = dict(chains)
    with selection_kept(), past_main():
        before, passed = {}, {}
        for number, thread in threads.items():
            thread.switch()
            passed[number] = _pass_endless(thread, chains[number], names)
            chains[number] = with_own_frame(chains[number], names, code)
            before[number] = _agreement_before(chains[number])
        modules = deliver()
        outcomes = []
        for number, thread in threads.items():
            chain = chains[number]
            thread.switch()
            overridden, parts_at = _lead(thread, chain, names)
            after = _agreement(chain, _gdb_pcs(_looked_at(chain)))
            outcomes.append(
                ThreadOutcome(
                    number,
                    len(chain.steps),
                    before[number],
                    after,
                    overridden + passed[number],
                    parts_at,
                    chain.more,
                    chain.unruled,
                )
            )
    return modules, outcomes


def repair(request: RepairRequest) -> tuple[list[ModuleOutcome], list[ThreadOutcome], int]:
    """Repairs the stacks of the selected inferior, and returns as well of how many functions gdb
    now shows the arguments. Raises Error.
    """
    found, chains = process_plan(request)
    arguments = found.arguments
    with selection_kept():  # gdb forgets it with each file that it is given
        outcomes = reconcile(chains, found.registers, lambda: deliver(found.deliveries), found.code)
        try:
            told_arguments.tell(None if arguments is None else arguments.file, request.every_thread)
        except Error:  # which is told of the files of modules, that lie beside it
            arguments = None
    return *outcomes, 0 if arguments is None else arguments.functions

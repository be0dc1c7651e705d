"""What a debugger has to be told so that its own commands show the chains that whocall finds.

Three things, from the general to the particular: a file with names and rules for each module, kept
for the next time; a file with the rules of those functions on the stacks that the first has not;
and, where a chain follows no rule (a damaged stack), where single frames lead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whocall import symbol_cache
from whocall.errors import Error, native_errors
from whocall.functions import path_fits
from whocall.model import Backtrace
from whocall.module_warnings import complaint
from whocall.search import Search

if TYPE_CHECKING:
    from whocall import _native as native
    from whocall.image import ProcessImage

# How much code of a module is analysed before anybody asks for it, bytes: a few milliseconds. Of a
# large module that is a beginning that helps nobody: the functions on stacks have rules made for
# them, and these bring as much of their module along.
AT_ONCE = 1 << 13
ALONG = 1 << 16
# Frames found in these ways follow from no rule of the function below them.
BEYOND_RULES = ("frame-pointer", "scan")
_USABLE = ("found", "in memory")
_READ_FROM_MEMORY = "[vdso]"  # by debuggers too


@dataclass(frozen=True)
class Step:
    """One frame of a chain, and where it leads."""

    pc: int
    lookup: int  # an address inside the instruction that the frame stands at or calls from
    sp: int
    cfa: int  # with `start` what debuggers tell frames apart by
    start: int  # of its function; the pc itself where that is not known
    caller: Mapping[str, int] | None  # the caller's registers; None: nothing called it; {}: untold
    ruled: bool  # a debugger finds the caller by the module's tables or by the rules we give

    @property
    def leads(self) -> bool:
        """Whether it tells the caller's registers, or that there is none."""
        return self.caller is None or bool(self.caller)


@dataclass(frozen=True)
class Chain:
    """The frames of one thread, innermost first, without inlined ones."""

    lwp: int
    steps: Sequence[Step]
    end: int | None = None  # `lookup` of the last step where the walk knows no caller


def chain_of(trace: Backtrace) -> Chain:
    """The chain of a walk past main that kept the registers."""
    frames = [frame for frame in trace.frames if not frame.inlined]
    steps = []
    for frame, older in zip(frames, [*frames[1:], None]):
        steps.append(
            Step(
                pc=frame.pc,
                lookup=frame.pc if frame.interrupted else frame.pc - 1,
                sp=frame.sp,
                cfa=frame.cfa or frame.sp,
                start=frame.pc if frame.offset is None else frame.pc - frame.offset,
                caller=None if older is None else older.registers,
                ruled=older is None or older.trust not in BEYOND_RULES,
            )
        )
    is_end = bool(steps) and trace.stop.reason in ("end-of-stack", "no-caller")
    return Chain(trace.lwp, steps, steps[-1].lookup if is_end else None)


@dataclass
class ModuleState:
    """What a debugger was told about a module."""

    begun: bool = False  # names and first rules were looked for
    debug_file: bool = False  # it found a separate debug file by itself, and has the names of that
    named: int = 0
    unnamed: int = 0
    ruled: set[int] = field(default_factory=set)  # link addresses of functions whose rules it has
    asked: set[int] = field(default_factory=set)  # link addresses whose functions were looked at
    complete: bool = False  # no function that needs rules is left over
    budget: int = ALONG  # of the next file of rules
    ended: set[int] = field(default_factory=set)  # link addresses where it knows that stacks end


@dataclass(frozen=True)
class Told:
    """What a debugger was told about the module that it has under this path.

    A `bias` is given where it has no object file of the module: then it tells modules apart.
    """

    path: str
    build_id: str
    bias: int | None
    state: ModuleState

    def is_about(self, paths: Collection[str], build_id: str, bias: int) -> bool:
        """Whether it is the module with one of these paths."""
        if self.bias is not None:
            return self.path in paths and self.bias == bias
        return is_same_file(self.path, self.build_id, paths, build_id)


def is_same_file(path: str, build_id: str, paths: Collection[str], other_id: str) -> bool:
    """Whether `path` is one of the `paths`, and no build id speaks against it."""
    if build_id and other_id and build_id != other_id:
        return False
    return os.path.realpath(path) in {os.path.realpath(each) for each in paths if each}


@dataclass(frozen=True)
class Gift:
    """What a debugger is to be given for a module, and what it then was told about it."""

    path: str
    file_path: str  # "" when the module is read from memory
    build_id: str
    bias: int
    files: Sequence[Path]  # symbol files; none where it has all that there is
    state: ModuleState


@dataclass(frozen=True)
class Plan:
    """All that a debugger has to be told."""

    pc_name: str  # its name of the register that holds the program counter
    chains: Sequence[Chain]
    gifts: Sequence[Gift]


@dataclass(frozen=True)
class Workshop:
    """Where files are made: what names depend on beside the module, and who writes the files that
    are not kept for the next time.
    """

    settings: str
    write: Callable[[bytes | memoryview], Path]


def settings_key(search: Search) -> str:
    """What names depend on beside the module: the lists and archives that the user gave."""
    files = (*search.symbol_files, *search.signature_files)
    told = [repr((tuple(search.symbol_files), tuple(search.signature_files), search.debuginfod))]
    for path in files:
        try:
            status = Path(path.rpartition("=")[2].partition("@")[0]).stat()
            told.append(f"{status.st_mtime_ns} {status.st_size}")
        except OSError:
            told.append("none")
    return "\0".join(told)


def _first_file(image: ProcessImage, index: int, state: ModuleState, shop: Workshop) -> Path | None:
    """The file with names and the first rules of image.modules[index], from the cache or made now.

    None when there is nothing to tell; `state` is brought up to date.
    """
    module = image.modules[index]
    key = None
    if module.state == "found":
        told = f"{not state.debug_file}\0{shop.settings}"
        key = symbol_cache.key_of(module.file_path, _build_id(module), told)
    kept = symbol_cache.find(key) if key is not None else None
    contents: bytes | memoryview = b""
    if kept is None:
        with native_errors():
            made = image.native.repair_file(
                index,
                debug_names=not state.debug_file,
                own_names=module.state != "found" and module.path != _READ_FROM_MEMORY,
                budget=AT_ONCE,
                repeat_names=not state.debug_file,
                beside=state.debug_file,
            )
        contents = made.bytes
        facts: symbol_cache.Facts = {
            "named": made.named,
            "unnamed": made.unnamed,
            "ruled": made.functions,
            "complete": made.complete,
        }
        kept = symbol_cache.keep(key, contents, facts) if key is not None else None
    if kept is not None:
        facts = kept.facts
    state.begun = True
    state.named, state.unnamed = facts["named"], facts["unnamed"]
    state.ruled.update(facts["ruled"])
    state.complete = facts["complete"]
    if kept is not None:
        return None if kept.empty else kept.path
    return shop.write(contents) if contents else None


def _more_rules(
    image: ProcessImage, index: int, pcs: Collection[int], state: ModuleState
) -> bytes | memoryview | None:
    """Rules for the functions at `pcs` (runtime addresses) that `state` has none for.

    They bring others along, twice as many each time, so that a long session asks seldom. None when
    nothing is left to tell; `state` is brought up to date.
    """
    bias = image.modules[index].bias
    asked = {pc - bias for pc in pcs}
    if state.complete or asked <= state.asked:
        return None
    state.asked |= asked
    with native_errors():
        wanted = image.native.repair_file(
            index, names=False, wanted=list(pcs), known=set(state.ruled)
        )
        if not wanted.functions:
            return None
        made = image.native.repair_file(
            index,
            names=False,
            wanted=list(pcs),
            known=set(state.ruled),
            budget=state.budget,
            beside=True,
        )
    state.ruled.update(made.functions)
    state.complete = made.complete
    state.budget *= 2
    return made.bytes


def _ends(
    image: ProcessImage, index: int, ends: Collection[int], state: ModuleState
) -> bytes | memoryview | None:
    """Rules that nobody called at the runtime addresses `ends`; None when there is nothing to tell.

    Else a debugger that has no table there shows a frame at 0 beyond the end.
    """
    bias = image.modules[index].bias
    wanted = [end for end in sorted(ends) if end - bias not in state.ended]
    if not wanted:
        return None
    with native_errors():
        made = image.native.repair_file(index, names=False, ends=wanted, beside=True)
    state.ended.update(end - bias for end in wanted)
    return made.bytes or None


def _build_id(module: native.Module) -> str:
    return module.build_id_in_memory or module.build_id_on_disk


def _gift(
    image: ProcessImage,
    index: int,
    pcs: set[int],
    ends: set[int],
    told: Iterable[Told],
    shop: Workshop,
) -> Gift | None:
    """What is to be given for image.modules[index]; None when no file of it was found."""
    module = image.modules[index]
    if module.state not in _USABLE:
        return None
    paths, build_id = (module.path, module.file_path), _build_id(module)
    known = next((each for each in told if each.is_about(paths, build_id, module.bias)), None)
    state = ModuleState()
    if known is not None:
        state = replace(
            known.state,
            ruled=set(known.state.ruled),
            asked=set(known.state.asked),
            ended=set(known.state.ended),
        )
    files = []
    if not state.begun:
        first = _first_file(image, index, state, shop)
        files += [] if first is None else [first]
    for made in (
        _more_rules(image, index, pcs, state),
        _ends(image, index, ends & pcs, state),
    ):
        files += [] if made is None else [shop.write(made)]
    file_path = module.file_path if module.state == "found" else ""
    return Gift(module.path, file_path, build_id, module.bias, files, state)


def modules_of(image: ProcessImage, chains: Iterable[Chain]) -> dict[int, set[int]]:
    """The lookup addresses of the chains by index of the module that they lie in."""
    found: dict[int, set[int]] = {}
    ranges = [(module.begin, module.end) for module in image.modules]
    for chain in chains:
        for step in chain.steps:
            for index, (begin, end) in enumerate(ranges):
                if begin <= step.lookup < end:
                    found.setdefault(index, set()).add(step.lookup)
                    break
    return found


def module_named(image: ProcessImage, name: str) -> native.Module:
    """The module whose path ends in `name`; the program for "". Raises Error."""
    fitting = [
        module
        for module in image.modules
        if (path_fits(module, name) if name else module.is_executable)
    ]
    if not fitting:
        raise Error(f"no module {name} is loaded" if name else "no program is loaded")
    usable = [module for module in fitting if module.state in _USABLE]
    if not usable:
        raise Error(complaint(fitting[0]) or f"{fitting[0].path} cannot be read")
    return usable[0]


def plan(
    image: ProcessImage,
    chains: Sequence[Chain],
    more_modules: Iterable[int],
    told: Sequence[Told],
    shop: Workshop,
) -> Plan:
    """What makes a debugger's stacks the chains.

    Of image.modules[i] for `more_modules` it is told as well, wherever frames lie; `told` is what
    it was told before.
    """
    wanted = modules_of(image, chains)
    for index in more_modules:
        wanted.setdefault(index, set())
    ends = {chain.end for chain in chains if chain.end is not None}
    gifts = [_gift(image, index, pcs, ends, told, shop) for index, pcs in sorted(wanted.items())]
    return Plan(image.native.pc_name, chains, [gift for gift in gifts if gift is not None])

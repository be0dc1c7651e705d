"""What a debugger has to be told so that its own commands show the chains that whocall finds.

Three things, from the general to the particular: a file with names and rules for each module, kept
for the next time; a file with the rules of those functions on the stacks that the first has not;
and, where a chain follows no rule (a damaged stack), where single frames lead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whocall import symbol_cache
from whocall.errors import Error, native_errors
from whocall.functions import path_fits
from whocall.model import Backtrace
from whocall.module_warnings import complaint
from whocall.symbol_cache import Facts, Kept

if TYPE_CHECKING:
    from whocall import _native as native
    from whocall.image import ProcessImage

# How much code of a module is analysed before anybody asks for it, bytes: a tenth of a second.
AT_ONCE = 1 << 16
# Frames found in these ways follow from no rule of the function below them.
BEYOND_RULES = ("frame-pointer", "scan")


@dataclass(frozen=True)
class Step:
    """One frame of a chain, and where it leads."""

    pc: int
    lookup: int  # an address inside the instruction that the frame stands at or calls from
    sp: int
    cfa: int  # with `start` what debuggers tell frames apart by
    start: int  # of its function; the pc itself where that is not known
    caller: Mapping[str, int] | None  # the caller's registers; None: nothing called it
    ruled: bool  # a debugger finds the caller by the module's tables or by the rules we give


@dataclass(frozen=True)
class Chain:
    """The frames of one thread, innermost first, without inlined ones."""

    lwp: int
    steps: Sequence[Step]


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
    return Chain(trace.lwp, steps)


@dataclass
class ModuleState:
    """What a debugger was told about a module."""

    named: int = 0
    unnamed: int = 0
    ruled: set[int] = field(default_factory=set)  # link addresses of functions whose rules it has
    complete: bool = False  # no function that needs rules is left over
    budget: int = AT_ONCE  # of the next file of rules


def module_file(
    image: ProcessImage, index: int, settings: str, debug_names: bool
) -> tuple[Kept | bytes, Facts]:
    """Names and the first rules of image.modules[index], from the cache or made now.

    Bytes where nothing can be kept, because the module has no file of its own. `settings` is what
    else the names depend on, such as lists of names; `debug_names` says whether the names in a
    separate debug file are to be told too.
    """
    module = image.modules[index]
    build_id = module.build_id_in_memory or module.build_id_on_disk
    key = None
    if module.file_path:
        key = symbol_cache.key_of(module.file_path, build_id, f"{debug_names}\0{settings}")
    known = symbol_cache.find(key) if key is not None else None
    if known is not None:
        return known, known.facts
    with native_errors():
        made = image.native.repair_file(index, debug_names=debug_names, budget=AT_ONCE)
    facts = {
        "named": made.named,
        "unnamed": made.unnamed,
        "ruled": made.functions,
        "complete": made.complete,
    }
    return (made.bytes if key is None else symbol_cache.keep(key, made.bytes, facts)), facts


def more_rules(
    image: ProcessImage, index: int, pcs: Collection[int], state: ModuleState
) -> bytes | None:
    """Rules for the functions at `pcs` (runtime addresses) that `state` has none for.

    They bring others along, twice as many each time, so that a long session asks seldom. None when
    nothing is left to tell; `state` is brought up to date.
    """
    if state.complete or not pcs:
        return None
    with native_errors():
        wanted = image.native.repair_file(
            index, names=False, wanted=list(pcs), known=set(state.ruled)
        )
        if not wanted.functions:
            return None
        made = image.native.repair_file(
            index, names=False, wanted=list(pcs), known=set(state.ruled), budget=state.budget
        )
    state.ruled.update(made.functions)
    state.complete = made.complete
    state.budget *= 2
    return made.bytes


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
    usable = [module for module in fitting if module.state in ("found", "in memory")]
    if not usable:
        raise Error(complaint(fitting[0]) or f"{fitting[0].path} cannot be read")
    return usable[0]


@dataclass(frozen=True)
class Exported:
    """What an exported symbol file has."""

    named: int
    unnamed: int
    ruled: int  # functions with rules


def export(image: ProcessImage, index: int, path: Path) -> Exported:
    """Writes names and all rules of image.modules[index] to `path`. Raises Error."""
    with native_errors():
        made = image.native.repair_file(index, budget=1 << 62)
    if not made.bytes:
        raise Error(f"{image.modules[index].path} lacks neither names nor rules: nothing to write")
    symbol_cache.write_whole(path, made.bytes)
    return Exported(made.named, made.unnamed, len(made.functions))


def export_lines(module: native.Module, path: Path, made: Exported) -> list[str]:
    """What was written, and how a colleague uses it."""
    build_id = module.build_id_in_memory or module.build_id_on_disk
    told = [
        f"{path}: {made.named:,} names, {made.unnamed:,} functions without a name, unwinding rules"
        f" of {made.ruled:,} functions of {module.path}.",
        "gdb reads it where debug info of this build is looked for,",
    ]
    if build_id:
        place = f".build-id/{build_id[:2]}/{build_id[2:]}.debug"
        told.append(f'  as DIRECTORY/{place} with "set debug-file-directory DIRECTORY",')
        told.append("or in a gdb that has the program loaded:")
    else:
        told[-1] = "In a gdb that has the program loaded:"
    name = Path(module.path).name
    told.append(f'  python gdb.lookup_objfile("{name}").add_separate_debug_file("{path}")')
    return told

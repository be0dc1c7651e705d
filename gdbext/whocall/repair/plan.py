"""What a debugger has to be told so that its own commands show the chains that whocall finds.

Three things, from the general to the particular: a file with names and rules for each module, kept
for the next time; a file with the rules of those functions on the stacks that the first has not;
and, where a chain follows no rule (a damaged stack), where single frames lead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.module_warnings import complaint
from whocall.base.native_errors import native_errors
from whocall.repair import symbol_cache
from whocall.repair.arguments import Arguments, arguments_file
from whocall.repair.chain import Chain, RegisterNames
from whocall.report.tables.functions import path_fits

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage

# How much code of a module is analysed before anybody asks for it, bytes: a few milliseconds. Of a
# large module that is a beginning that helps nobody: the functions on stacks have rules made for
# them, and these bring as much of their module along.
AT_ONCE = 1 << 13
ALONG = 1 << 16
_USABLE = ("found", "in memory")
_READ_FROM_MEMORY = "[vdso]"  # by debuggers too


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
class AttachedState:
    """What was attached before to the module that a debugger has under this path.

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
class SymbolDelivery:
    """The symbol files that a debugger is given for a module, and what it then knows of it."""

    path: str
    file_path: str  # "" when the module is read from memory
    build_id: str
    bias: int
    files: Sequence[Path]  # symbol files; none where it has all that there is
    state: ModuleState


@dataclass(frozen=True)
class Plan:
    """All that a debugger has to be told."""

    registers: RegisterNames
    chains: Sequence[Chain]
    deliveries: Sequence[SymbolDelivery]
    code: Sequence[tuple[int, int]] = ()  # where code may lie, by runtime address; (): not known
    arguments: Arguments | None = None


@dataclass(frozen=True)
class SymbolFileFactory:
    """How symbol files are made: what names depend on beside the module, and who writes the files
    that are not kept for the next time, and those that are.
    """

    settings: str
    write: Callable[[bytes | memoryview], Path]
    keep: Callable[[str, bytes | memoryview, symbol_cache.Facts], symbol_cache.Kept] = (
        symbol_cache.keep
    )


def settings_key(search: Search) -> str:
    """What names depend on beside the module: the lists and archives that the user gave."""
    files = (*search.symbol_files, *search.signature_files)
    parts = [repr((tuple(search.symbol_files), tuple(search.signature_files), search.debuginfod))]
    for path in files:
        try:
            status = Path(path.rpartition("=")[2].partition("@")[0]).stat()
            parts.append(f"{status.st_mtime_ns} {status.st_size}")
        except OSError:
            parts.append("none")
    return "\0".join(parts)


def _first_file(
    image: ProcessImage, index: int, state: ModuleState, factory: SymbolFileFactory
) -> Path | None:
    """The file with names and the first rules of image.modules[index], from the cache or made now.

    None when there is nothing to tell; `state` is brought up to date.
    """
    module = image.modules[index]
    key = None
    if module.state == "found":
        settings = f"{not state.debug_file}\0{factory.settings}"
        key = symbol_cache.key_of(module.file_path, _build_id(module), settings)
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
        kept = factory.keep(key, contents, facts) if key is not None else None
    if kept is not None:
        facts = kept.facts
    state.begun = True
    state.named, state.unnamed = facts["named"], facts["unnamed"]
    state.ruled.update(facts["ruled"])
    state.complete = facts["complete"]
    if kept is not None:
        return None if kept.empty else kept.path
    return factory.write(contents) if contents else None


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


def _delivery(
    image: ProcessImage,
    index: int,
    pcs: set[int],
    ends: set[int],
    attached: Iterable[AttachedState],
    factory: SymbolFileFactory,
) -> SymbolDelivery | None:
    """What is to be given for image.modules[index]; None when no file of it was found, and none
    stands in for it.
    """
    module = image.modules[index]
    if module.state not in _USABLE and not module.has_stand_in:
        return None
    paths, build_id = (module.path, module.file_path), _build_id(module)
    known = next((each for each in attached if each.is_about(paths, build_id, module.bias)), None)
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
        first = _first_file(image, index, state, factory)
        files += [] if first is None else [first]
    for made in (
        _more_rules(image, index, pcs, state),
        _ends(image, index, ends & pcs, state),
    ):
        files += [] if made is None else [factory.write(made)]
    file_path = module.file_path if module.state == "found" else ""
    return SymbolDelivery(module.path, file_path, build_id, module.bias, files, state)


def modules_of(image: ProcessImage, chains: Iterable[Chain]) -> dict[int, set[int]]:
    """The lookup addresses of the chains by index of the module that they lie in."""
    found: dict[int, set[int]] = {}
    ranges = [(module.begin, module.end) for module in image.modules]
    for chain in chains:
        for lookup in chain.lookups:
            for index, (begin, end) in enumerate(ranges):
                if begin <= lookup < end:
                    found.setdefault(index, set()).add(lookup)
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


def chosen_modules(image: ProcessImage, every: bool, names: Sequence[str]) -> list[int]:
    """Indices of all modules, or of those whose paths end so. Raises Error where there is none."""
    if every:
        return [module.index for module in image.modules]
    return [module_named(image, name).index for name in names]


def plan(
    image: ProcessImage,
    chains: Sequence[Chain],
    more_modules: Iterable[int],
    attached: Sequence[AttachedState],
    factory: SymbolFileFactory,
    traces: Sequence[Backtrace] = (),
) -> Plan:
    """What makes a debugger's stacks the chains.

    Of image.modules[i] for `more_modules` it is told as well, wherever frames lie; `attached` is
    what it was told before. Of `traces` it is told what their functions were handed.
    """
    wanted = modules_of(image, chains)
    for index in more_modules:
        wanted.setdefault(index, set())
    ends = {chain.end for chain in chains if chain.end is not None}
    made = {
        index: _delivery(image, index, pcs, ends, attached, factory)
        for index, pcs in sorted(wanted.items())
    }
    names = RegisterNames(image.native.pc_name, image.native.sp_name)
    deliveries = [each for each in made.values() if each is not None]
    # A debugger that has debug info of a module knows the arguments by that, and better.
    bare = [at for at, each in made.items() if each and not each.state.debug_file]
    arguments = arguments_file(image, traces, bare, factory.write)
    return Plan(names, chains, deliveries, image.code_ranges(), arguments)

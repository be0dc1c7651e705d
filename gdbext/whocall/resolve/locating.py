"""In which module a place lies, and at which link address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.elf_head import ElfHead
from whocall.resolve.facts.place import CODE, FILE, FIRST, LINK, VALGRIND, Place
from whocall.resolve.segments import code_offset, file_offset, has_code_at, in_listed

if TYPE_CHECKING:
    from whocall.resolve.facts.context import Context
    from whocall.resolve.facts.maps import Mapping
    from whocall.resolve.modules import Module, Modules

# Where valgrind loads a position-independent program: up to 3.24 at the first, and its libraries at
# the second and above; 3.27 has all there, the program first.
_VALGRIND_BASE = 0x108000
_VALGRIND_OTHERS = 0x4000000
_WORD = (1 << 64) - 1


def locate(place: Place, context: Context, modules: Modules) -> tuple[Module, int] | None:
    """The module and the link address; None where the log does not tell enough."""
    module = _told_module(place, context, modules)
    if module is not None:
        rva = _in_module(place, module, context, modules)
        if rva is not None:
            return module, rva & _WORD
    if place.address is None:
        return None
    mapping = context.maps.find(place.address)
    if mapping is not None:
        module = modules.module(mapping.path, context.build_id_of(mapping.path))
        mapped = _in_mapping(place, place.address, mapping, context, module)
        return None if mapped is None else (module, mapped & _WORD)
    if place.module is not None or context.maps:
        return None
    return _by_address(place, place.address, context, modules)


def _told_module(place: Place, context: Context, modules: Modules) -> Module | None:
    """The module that the place itself names."""
    if place.program:
        return _program(place, context, modules)
    if place.module is None or place.module[:1] in ("", "["):
        return None
    if place.title[:1] in ("/", "."):  # a path with blanks in it, or with words behind it
        for path in (place.title, place.title.split(" ")[0]):
            if modules.is_called(path):
                return modules.module(path, place.build_id or context.build_id_of(path))
    name = place.module
    if "/" not in name and context.maps:
        name = context.maps.path_called(name) or name
    first = context.first_of(name)
    name = first[0] if first is not None else name
    return modules.module(name, place.build_id or context.build_id_of(name))


def _program(place: Place, context: Context, modules: Modules) -> Module | None:
    """The program itself, which the log calls anything: what a process calls itself in its list of
    arguments, as `redis-server *:6379` or `postgres: bob shop [local] SELECT`, or nothing at all.
    The one that was named, else a file that is called as one of these words.
    """
    if context.program is not None:
        return modules.module(context.program, context.build_id_of(context.program))
    for word in (place.title, *place.title.split(), place.module or ""):
        name = word.rstrip(":,")
        if name and name[:1] != "[" and modules.is_called(name):
            return modules.module(name, context.build_id_of(name))
    if "" in context.loaded:
        return modules.module(context.loaded[""][0], None)
    return modules.module(place.module, None) if place.module is not None else None


def _by_address(
    place: Place, address: int, context: Context, modules: Modules
) -> tuple[Module, int] | None:
    """By the address alone."""
    library = context.library_at(address)
    if library is not None:
        module = modules.module(library, context.build_id_of(library))
        head = module.head
        rva = in_listed(head, address, *context.listed_at[library]) if head is not None else None
        return None if rva is None else (module, rva)
    if context.code_at is not None and context.code_at[1] <= address < context.code_at[2]:
        path, begin, end = context.code_at
        module = modules.module(path, context.build_id_of(path))
        head = module.head
        rva = code_offset(head, address - begin, end - begin) if head is not None else None
        return None if rva is None else (module, rva)
    if "" in context.loaded:
        path, bias = context.loaded[""]
        program = modules.module(path, None)
        if has_code_at(program.head, address - bias - place.caller):
            return program, address - bias
    if context.program is not None:
        program = modules.module(context.program, context.build_id_of(context.program))
        if _is_fixed(program.head, address - place.caller):
            return program, address
    return None


def _in_module(place: Place, module: Module, context: Context, modules: Modules) -> int | None:
    if place.offset is not None:
        return _counted(place, module.head)
    # What was told of the load bias may have been that of another process.
    if place.symbol is not None and place.symbol_offset is not None:
        rva = modules.by_symbol(module, place.symbol, place.symbol_offset, place.address)
        if rva is not None:
            return rva
    if place.address is None:
        return None
    return _of_runtime(place, place.address, module, context)


def _of_runtime(place: Place, address: int, module: Module, context: Context) -> int | None:
    """The link address of a runtime address in a module."""
    head = module.head
    bias = context.bias_of(place.module or module.name)
    if bias is not None and (head is None or has_code_at(head, address - bias - place.caller)):
        return address - bias
    mapping = context.maps.find(address)
    if mapping is not None and mapping.path.endswith(module.name.lstrip(".")):
        return _in_mapping(place, address, mapping, context, module)
    if head is None:
        return None
    if _is_fixed(head, address - place.caller):
        return address
    if place.counted == VALGRIND:
        base = _valgrinds_base(address, module.name, head)
        if base is not None:
            return address - base + head.first
    first = context.first_of(module.name)
    if first is not None:
        return address - first[1] + head.first
    listed = context.listed_at.get(module.name)
    if listed is not None:
        return in_listed(head, address, *listed)
    loaded = context.loaded.get("" if place.program else place.module or "")
    if loaded is not None and has_code_at(head, address - loaded[1] - place.caller):
        return address - loaded[1]
    return None


def _counted(place: Place, head: ElfHead | None) -> int | None:
    """The link address of an offset."""
    assert place.offset is not None
    if place.counted == LINK:
        return place.offset
    if place.counted == FIRST:
        return place.offset + (head.first if head is not None else 0)
    if place.counted == FILE:
        return None if head is None else file_offset(head, place.offset, place.caller)
    assert place.counted == CODE
    if head is None:
        return None
    if place.in_file is not None:
        rva = file_offset(head, place.in_file, place.caller)
        if rva is not None or head.has_code:
            return rva
    return code_offset(head, place.offset, place.extent)


def _in_mapping(
    place: Place, address: int, mapping: Mapping, context: Context, module: Module
) -> int | None:
    head = module.head
    first = context.maps.first_byte(mapping)
    if first is not None:
        return address - first + (head.first if head is not None else 0)
    if head is None:
        return None
    if head.has_code:
        return file_offset(head, address - mapping.begin + mapping.offset, place.caller)
    return code_offset(head, address - mapping.begin, mapping.end - mapping.begin)


def _is_fixed(head: ElfHead | None, address: int) -> bool:
    """Whether the file is a program that always lies at its link addresses, with code there."""
    return head is not None and head.first > 0 and has_code_at(head, address)


def _valgrinds_base(address: int, name: str, head: ElfHead) -> int | None:
    """Where valgrind loaded the program; None for an address that may be of one of its libraries,
    and for a program so large that in an older valgrind it may reach so far.
    """
    if address < _VALGRIND_OTHERS:
        return _VALGRIND_BASE if address >= _VALGRIND_BASE else None
    end = max((part.address + part.size for part in head.segments), default=0) - head.first
    is_program = head.has_interpreter and ".so" not in name.rpartition("/")[2]
    fits = end <= _VALGRIND_OTHERS - _VALGRIND_BASE
    inside = has_code_at(head, address - _VALGRIND_OTHERS + head.first)
    return _VALGRIND_OTHERS if is_program and fits and inside else None

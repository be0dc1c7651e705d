"""In which module a place lies, and at which link address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.core.elf_head import PAGE, ElfHead
from whocall.resolve.facts.place import CODE, FILE, FIRST, LINK, VALGRIND, Place

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
    if place.module is not None and place.module[:1] not in ("", "["):
        name = place.module
        if "/" not in name and context.maps:
            name = context.maps.path_called(name) or name
        module = modules.module(name, place.build_id or context.build_id_of(name))
        rva = _in_module(place, module, context, modules)
        if rva is not None:
            return module, rva & _WORD
    if place.address is None:
        return None
    mapping = context.maps.find(place.address)
    if mapping is not None:
        module = modules.module(mapping.path, context.build_id_of(mapping.path))
        mapped = _in_mapping(place.address, mapping, context, module)
        return None if mapped is None else (module, mapped & _WORD)
    if place.module is not None or context.maps:
        return None
    if context.loaded is not None:
        path, bias = context.loaded
        program = modules.module(path, None)
        if _has_code_at(program.head, place.address - bias):
            return program, place.address - bias
    if context.program is not None:
        program = modules.module(context.program, context.build_id_of(context.program))
        if _is_fixed(program.head, place.address):
            return program, place.address
    return None


def _in_module(place: Place, module: Module, context: Context, modules: Modules) -> int | None:
    head = module.head
    if place.offset is not None:
        return _counted(place, head)
    if place.address is None and place.symbol is None:
        return None
    # What was told of the load bias may have been that of another process.
    if place.symbol is not None and place.symbol_offset is not None:
        rva = modules.by_symbol(module, place.symbol, place.symbol_offset, place.address)
        if rva is not None:
            return rva
    if place.address is not None:
        bias = context.bias_of(module.name)
        if bias is not None:
            return place.address - bias
        mapping = context.maps.find(place.address)
        if mapping is not None and mapping.path.endswith(module.name.lstrip(".")):
            return _in_mapping(place.address, mapping, context, module)
        if _is_fixed(head, place.address):
            return place.address
        if place.counted == VALGRIND and head is not None:
            base = _valgrinds_base(place.address, module.name, head)
            if base is not None:
                return place.address - base + head.first
        text = context.text_at.get(module.name)
        if text is not None and head is not None and head.text is not None:
            return place.address - text + head.text
    return None


def _counted(place: Place, head: ElfHead | None) -> int | None:
    """The link address of an offset."""
    assert place.offset is not None
    if place.counted == LINK:
        return place.offset
    if place.counted == FIRST:
        return place.offset + (head.first if head is not None else 0)
    if place.counted == FILE:
        return None if head is None else _of_file_offset(head, place.offset)
    assert place.counted == CODE
    if head is None:
        return None
    if place.in_file is not None and head.has_code:
        return _of_file_offset(head, place.in_file)
    return _of_code_offset(head, place.offset, place.extent)


def _of_file_offset(head: ElfHead, offset: int) -> int | None:
    if not head.has_code:
        return None  # debug files tell no more where in its file code was
    for part in head.segments:
        begin = part.offset // PAGE * PAGE
        if part.executable and begin <= offset < part.offset + max(part.file_size, part.size):
            return offset - part.offset + part.address
    return None


def _of_code_offset(head: ElfHead, offset: int, extent: int) -> int | None:
    """Of what counts from a mapping of which only the size is known: a segment with code."""
    parts = [part for part in head.segments if part.executable]
    fits = [part for part in parts if _pages(part.address, part.size) == extent]
    chosen = fits if len(fits) == 1 else parts
    return chosen[0].address // PAGE * PAGE + offset if len(chosen) == 1 else None


def _pages(address: int, size: int) -> int:
    """Bytes of the pages that hold a range."""
    return (address + size + PAGE - 1) // PAGE * PAGE - address // PAGE * PAGE


def _in_mapping(address: int, mapping: Mapping, context: Context, module: Module) -> int | None:
    head = module.head
    first = context.maps.first_byte(mapping)
    if first is not None:
        return address - first + (head.first if head is not None else 0)
    if head is None:
        return None
    if head.has_code:
        return _of_file_offset(head, address - mapping.begin + mapping.offset)
    return _of_code_offset(head, address - mapping.begin, mapping.end - mapping.begin)


def _is_fixed(head: ElfHead | None, address: int) -> bool:
    """Whether the file is a program that always lies at its link addresses, with code there."""
    return head is not None and head.first > 0 and _has_code_at(head, address)


def _has_code_at(head: ElfHead | None, rva: int) -> bool:
    parts = [part for part in head.segments if part.executable] if head is not None else []
    return any(part.address <= rva < part.address + part.size for part in parts)


def _valgrinds_base(address: int, name: str, head: ElfHead) -> int | None:
    """Where valgrind loaded the program; None for an address that may be of one of its libraries,
    and for a program so large that in an older valgrind it may reach so far.
    """
    if address < _VALGRIND_OTHERS:
        return _VALGRIND_BASE if address >= _VALGRIND_BASE else None
    end = max((part.address + part.size for part in head.segments), default=0) - head.first
    is_program = head.has_interpreter and ".so" not in name.rpartition("/")[2]
    fits = end <= _VALGRIND_OTHERS - _VALGRIND_BASE
    inside = _has_code_at(head, address - _VALGRIND_OTHERS + head.first)
    return _VALGRIND_OTHERS if is_program and fits and inside else None

"""The function table as a script that a disassembler runs: Ghidra, IDA, Binary Ninja, radare2.

Addresses are told from the beginning of the image, as each of them loads a position-independent
file somewhere else. Everything of the file is data there: names have letters, digits and a few
signs that mean nothing in any of their languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from whocall.base.elf_head import read_elf_head
from whocall.base.errors import UsageError
from whocall.base.printable import printable
from whocall.report.tables.functions import Function, FunctionTable

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9_.$@:~]")
_NOT_FOR_RADARE2 = re.compile(r"[^A-Za-z0-9_.]")

_HEAD = """\
# Functions of {file}{build}, found by whocall.
# {how}
# Where each begins from the beginning of the image (hexadecimal), how long it is (bytes), its name,
# or "-", and what it is named by; "?" behind that: it was concluded.
FUNCTIONS = [
"""
_PIECE = 24_000  # characters: Jython takes no longer constants than 64 KB, nor so many tuples

_ROWS = """\
]


def rows():
    for piece in FUNCTIONS:
        for line in piece.splitlines():
            offset, size, name, source = line.split(" ")
            yield int(offset, 16), None if name == "-" else name, source

"""

_GHIDRA = """\
from ghidra.program.model.symbol import SourceType

base = currentProgram.getImageBase()
for offset, name, source in rows():
    address = base.add(offset)
    function = getFunctionAt(address)
    if function is None and getFunctionContaining(address) is None:
        disassemble(address)
        function = createFunction(address, None)
    if function is not None and name is not None:
        function.setName(name, SourceType.ANALYSIS if source.endswith("?") else SourceType.IMPORTED)
        function.setComment("whocall: " + source)
"""

_IDA = """\
import ida_funcs
import ida_name
import ida_nalt

base = ida_nalt.get_imagebase()
for offset, name, source in rows():
    address = base + offset
    function = ida_funcs.get_func(address)
    if function is None:
        ida_funcs.add_func(address)
        function = ida_funcs.get_func(address)
    if function is not None and function.start_ea == address and name is not None:
        ida_name.set_name(address, name, ida_name.SN_NOWARN | ida_name.SN_FORCE)
        ida_funcs.set_func_cmt(function, "whocall: " + source, True)
"""

_BINJA = """\
for offset, name, source in rows():
    address = bv.start + offset
    function = bv.get_function_at(address)
    if function is None and not bv.get_functions_containing(address):
        function = bv.create_user_function(address) or bv.get_function_at(address)
    if function is not None and name is not None:
        function.name = name
        function.comment = "whocall: " + source
"""

_HOW = {
    "ghidra": "Ghidra: run it in the Script Manager, or by analyzeHeadless -postScript.",
    "ida": "IDA: File, Script file...",
    "binja": "Binary Ninja: File, Run Script...",
    "r2": "radare2 and rizin: -i FILE",
}
_TAILS = {"ghidra": _GHIDRA, "ida": _IDA, "binja": _BINJA}
FORMS = tuple(_HOW)


def script(table: FunctionTable, form: str) -> Iterator[str]:
    """Pieces of it; `form` is one of FORMS. Raises UsageError for a file that is not ELF."""
    first = _beginning(table.module)
    build = f" (build id {table.build_id})" if table.build_id else ""
    file = printable(Path(table.module).name).encode("ascii", "backslashreplace").decode()
    head = {"file": file, "build": build, "how": _HOW[form]}
    if form == "r2":
        yield "# Functions of {file}{build}, found by whocall.\n# {how}\n".format(**head)
        for each in table.functions:
            yield from _radare2_lines(each)
        return
    yield _HEAD.format(**head)
    piece = ""
    for each in table.functions:
        piece += _row(each, first)
        if len(piece) > _PIECE:
            yield f'"""\\\n{piece}""",\n'
            piece = ""
    yield f'"""\\\n{piece}""",\n'
    yield _ROWS + _TAILS[form]


def _row(each: Function, first: int) -> str:
    name = (each.named and _NOT_FOR_NAMES.sub("_", each.raw_name)) or "-"
    source = each.source + ("?" if each.inferred else "")
    return f"{each.start - first:x} {each.end - each.start} {name} {source}\n"


def _beginning(path: str) -> int:
    """The link address at which the image begins."""
    head = read_elf_head(path)
    if head is None or not head.segments:
        raise UsageError(
            f"{path}: scripts for disassemblers are written of ELF programs and libraries"
        )
    return head.first


def _radare2_lines(each: Function) -> Iterator[str]:
    """It loads files at their link addresses."""
    yield f"af @ {each.start:#x}\n"
    if each.named:
        yield f"afn {_NOT_FOR_RADARE2.sub('_', each.raw_name)} @ {each.start:#x}\n"

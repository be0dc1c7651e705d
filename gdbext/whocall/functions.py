"""The sorted function tables as text and as JSON, schema whocall.functions/1."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whocall.errors import Error, UsageError, native_errors
from whocall.jsonform import Json, hexes
from whocall.model import marked
from whocall.module_warnings import complaint
from whocall.search import Search
from whocall.style import Style

if TYPE_CHECKING:
    from whocall import _native as native
    from whocall.image import ProcessImage

Demangle = Callable[[str], str]

JIT = "[JIT]"  # stands for code that compilers put into memory, where a module's path stands


@dataclass(frozen=True)
class Function:
    """One function; addresses as its table's `bias` makes them."""

    start: int
    end: int
    name: str
    raw_name: str
    source: str
    named: bool
    inferred: bool = False  # the name was concluded from code and data
    witness: tuple[str, ...] = ()  # what tells that a function starts there, best first


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one module. `bias` (bytes) is added to link addresses, as pointers add."""

    module: str
    build_id: str
    bias: int
    functions: list[Function]
    remark: str = ""  # why something that was to lend names does not; "" when nothing was refused


def _matching(
    rows: Iterable[tuple[int, int, str, str, bool, list[str], bool]],
    regex: str,
    demangle: Demangle,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> list[Function]:
    """The functions whose demangled or raw name `regex` matches anywhere ("" matches all)."""
    # Where a library lies below its link addresses the bias makes them wrap.
    wrapped: Callable[[int], int] = int if image is None else image.wrapped
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise UsageError(f'"{regex}" is not a regular expression: {error}') from error
    functions = []
    for start, end, raw_name, source, named, witness, inferred in rows:
        name = demangle(raw_name)
        if pattern.search(name) or pattern.search(raw_name):
            functions.append(
                Function(
                    wrapped(start + bias),
                    wrapped(end + bias),
                    name,
                    raw_name,
                    source,
                    named,
                    inferred,
                    tuple(witness),
                )
            )
    return functions


def select(
    table: native.FunctionList,
    module: str,
    regex: str,
    demangle: Demangle,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> FunctionTable:
    """The functions of one module whose names `regex` matches."""
    rows = (table[at] for at in range(len(table)))
    functions = _matching(rows, regex, demangle, image, bias)
    wrapped = bias if image is None else image.wrapped(bias)
    return FunctionTable(module, table.build_id, wrapped, functions, table.remark)


def _demangler(demangle: bool) -> Demangle:
    from whocall.engine import native

    return native.demangle if demangle else str


def of_file(
    path: str,
    regex: str,
    demangle: bool,
    search: Search = Search(),
) -> FunctionTable:
    """The functions of one file at link addresses."""
    from whocall.engine import native

    with native_errors():
        table = native.functions(os.fsencode(path), search.names_only().native())
    return select(table, path, regex, _demangler(demangle))


def of_process(
    image: ProcessImage, module: str, regex: str, demangle: bool
) -> Iterator[FunctionTable]:
    """The functions of the modules whose path is or ends in `module`, at runtime addresses; then
    those of JIT code, as of a module JIT.

    Modules without a file, or with that of another build, are left out; raises Error when `module`
    names only such, and when no module fits.
    """
    fitting = [found for found in image.modules if path_fits(found, module)]
    if not fitting and module != JIT:
        raise Error(f'no module\'s path ends in "{module}"; "whocall modules" lists them')
    usable = [found for found in fitting if found.state in ("found", "in memory")]
    if module and not usable and module != JIT:
        raise Error(complaint(fitting[0]) or f"{fitting[0].path} has no functions")
    for found in usable:
        with native_errors():
            table = image.native.functions(found.index)
        yield select(table, found.path, regex, _demangler(demangle), image, found.bias)
    rows = image.native.jit_functions() if module in ("", JIT) else []
    if rows:
        yield FunctionTable(JIT, "", 0, _matching(rows, regex, _demangler(demangle)))


def path_fits(module: native.Module, wanted: str) -> bool:
    """Whether `wanted` is the module's path or whole last parts of it; "" fits all."""
    if not wanted:
        return True
    return any(
        path == wanted or path.endswith(f"/{wanted}") for path in (module.path, module.file_path)
    )


def function_lines(table: FunctionTable, pointer_size: int, style: Style) -> Iterator[str]:
    """A heading with the module's path, then start, end, source and name of each function.

    Behind a function that only the code shows stand the other witnesses of its start.
    """
    digits = pointer_size * 2 + 2
    yield style.paint("filename", table.module) + f": {len(table.functions)} functions"
    width = max((len(function.source) for function in table.functions), default=0)
    for function in table.functions:
        start = style.paint("address", f"{function.start:#0{digits}x}")
        end = style.paint("address", f"{function.end:#0{digits}x}")
        source = style.paint("metadata", f"{function.source:<{width}}")
        name = marked(function.name, function.inferred)
        line = f"{start} {end} {source} {style.paint('function', name)}"
        others = [word for word in function.witness if word != function.source]
        if others and not function.named:
            line += " " + style.paint("metadata", f"({', '.join(others)})")
        yield line


def functions_json(tables: Iterable[FunctionTable]) -> Json:
    """All tables."""
    return {
        "schema": "whocall.functions/1",
        "modules": [
            {
                "module": table.module,
                "build_id": table.build_id or None,
                "bias": hexes(table.bias),
                "functions": [
                    {
                        "start": hexes(function.start),
                        "end": hexes(function.end),
                        "name": function.name,
                        "raw_name": function.raw_name,
                        "source": function.source,
                        "named": function.named,
                        "inferred": function.inferred,
                        "witness": list(function.witness),
                    }
                    for function in table.functions
                ],
            }
            for table in tables
        ],
    }

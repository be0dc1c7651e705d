"""The sorted function tables as text and as JSON, schema whocall.functions/1."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring as quote
from typing import TYPE_CHECKING, NamedTuple, overload

from whocall.core.errors import Error, UsageError
from whocall.core.model import marked
from whocall.core.module_warnings import complaint
from whocall.core.native_errors import native_errors
from whocall.core.search import Search
from whocall.report.form.style import Style

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.core.image import ProcessImage

Demangle = Callable[[str], str]
_Row = tuple[int, int, str, str, bool, list[str], bool]

JIT = "[JIT]"  # stands for code that compilers put into memory, where a module's path stands

_ROWS_AT_ONCE = 256
_TRUTH = {True: "true", False: "false"}


class Function(NamedTuple):
    """One function; addresses as its table's `bias` makes them."""

    start: int
    end: int
    name: str
    raw_name: str
    source: str
    named: bool
    inferred: bool = False  # the name was concluded from code and data
    witness: tuple[str, ...] = ()  # what tells that a function starts there, best first


class Functions(Sequence[Function]):
    """Some functions of a native list, each made when it is looked at: there may be a million."""

    def __init__(
        self,
        table: native.FunctionList | Sequence[_Row],
        bias: int,
        demangle: Demangle,
        chosen: Sequence[int],
        wrapped: Callable[[int], int],
    ) -> None:
        self._table = table
        self._bias = bias
        self._demangle = demangle
        self._chosen = chosen  # indices
        # Where a library lies below its link addresses the bias makes them wrap.
        self._wrapped = wrapped

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> Functions: ...
    def __getitem__(self, index: int | slice) -> Function | Functions:
        if isinstance(index, slice):
            chosen = self._chosen[index]
            return Functions(self._table, self._bias, self._demangle, chosen, self._wrapped)
        start, end, raw_name, source, named, witness, inferred = self._table[self._chosen[index]]
        bias = self._bias
        return Function(
            self._wrapped(start + bias),
            self._wrapped(end + bias),
            self._demangle(raw_name),
            raw_name,
            source,
            named,
            inferred,
            tuple(witness),
        )

    def longest_source(self) -> int:
        """Characters of the longest word in `source`."""
        return max((len(self._table[at][3]) for at in self._chosen), default=0)


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one module. `bias` (bytes) is added to link addresses, as pointers add."""

    module: str
    build_id: str
    bias: int
    functions: Functions
    remark: str = ""  # why something that was to lend names does not; "" when nothing was refused


def _matching(
    table: native.FunctionList | Sequence[_Row],
    regex: str,
    demangle: Demangle,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> Functions:
    """The functions whose demangled or raw name `regex` matches anywhere ("" matches all)."""
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise UsageError(f'"{regex}" is not a regular expression: {error}') from error
    chosen: Sequence[int] = range(len(table))
    if regex:
        chosen = array("L", (at for at in chosen if _fits(pattern, table[at][2], demangle)))
    return Functions(table, bias, demangle, chosen, int if image is None else image.wrapped)


def select(
    table: native.FunctionList,
    module: str,
    regex: str,
    demangle: Demangle,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> FunctionTable:
    """The functions of one module whose names `regex` matches."""
    functions = _matching(table, regex, demangle, image, bias)
    wrapped = bias if image is None else image.wrapped(bias)
    return FunctionTable(module, table.build_id, wrapped, functions, table.remark)


def _fits(pattern: re.Pattern[str], raw_name: str, demangle: Demangle) -> bool:
    return bool(pattern.search(demangle(raw_name)) or pattern.search(raw_name))


def _demangler(demangle: bool) -> Demangle:
    from whocall.core.engine import native

    return native.demangle if demangle else str


def of_file(
    path: str,
    regex: str,
    demangle: bool,
    search: Search = Search(),
) -> FunctionTable:
    """The functions of one file at link addresses."""
    from whocall.core.engine import native

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
    width = table.functions.longest_source()
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


def functions_json(tables: Iterable[FunctionTable]) -> Iterator[str]:
    """All tables as JSON text in pieces, laid out as `jsonform.text` does it.

    Python's encoder is written in C only where it need not indent: so the rows are put together
    here, and it writes the strings.
    """
    yield '{\n "schema": "whocall.functions/1",\n "modules": ['
    between = ""
    for table in tables:
        build_id = quote(table.build_id) if table.build_id else "null"
        yield (
            f'{between}\n  {{\n   "module": {quote(table.module)},\n   "build_id": {build_id},\n'
            f'   "bias": "{table.bias:#x}",\n   "functions": ['
        )
        rows = map(_row, table.functions)
        before = "\n"
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield before + ",\n".join(batch)
            before = ",\n"
        yield "\n   ]\n  }" if table.functions else "]\n  }"
        between = ","
    yield "\n ]\n}\n" if between else "]\n}\n"


def _row(function: Function) -> str:
    start, end, name, raw_name, source, named, inferred, witness = function
    words = ",\n      ".join([quote(word) for word in witness])
    return (
        f'    {{\n     "start": "{start:#x}",\n     "end": "{end:#x}",\n'
        f'     "name": {quote(name)},\n     "raw_name": {quote(raw_name)},\n'
        f'     "source": {quote(source)},\n     "named": {_TRUTH[named]},\n'
        f'     "inferred": {_TRUTH[inferred]},\n     "witness": ['
        + (f"\n      {words}\n     ]\n    }}" if words else "]\n    }")
    )

"""The sorted function tables as text and as JSON, schema whocall.functions/1."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from whocall.base.counted import counted
from whocall.base.errors import Error, UsageError
from whocall.base.file_search import Search
from whocall.base.model import INFERRED_MARK
from whocall.base.module_warnings import complaint
from whocall.base.native_errors import native_errors
from whocall.report.form.jsonform import quoted
from whocall.report.form.sentences import broken_pieces
from whocall.report.form.style import Style

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.process_image import ProcessImage

Demangle = Callable[[str], str]

JIT = "[JIT]"  # stands for code that compilers put into memory, where a module's path stands

_ALL_BITS = (1 << 64) - 1
_NAMES_AT_ONCE = 4096


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
        table: native.FunctionList,
        bias: int,
        demangle: bool,
        chosen: Sequence[int] | None = None,
        mask: int = _ALL_BITS,
    ) -> None:
        self._table = table
        self._bias = bias
        self._demangle = demangle
        self._chosen = range(len(table)) if chosen is None else chosen  # indices
        # Where a library lies below its link addresses the bias makes them wrap.
        self._mask = mask

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> Functions: ...
    def __getitem__(self, index: int | slice) -> Function | Functions:
        if isinstance(index, slice):
            chosen = self._chosen[index]
            return Functions(self._table, self._bias, self._demangle, chosen, self._mask)
        start, end, raw_name, source, named, witness, inferred = self._table[self._chosen[index]]
        return Function(
            (start + self._bias) & self._mask,
            (end + self._bias) & self._mask,
            _demangler(self._demangle)(raw_name),
            raw_name,
            source,
            named,
            inferred,
            tuple(witness),
        )

    def _indices(self) -> array[int] | None:
        everyone = self._chosen == range(len(self._table))
        return None if everyone else array("L", self._chosen)

    def _form(self) -> native.FunctionForm:
        from whocall.base.native_module import native

        form = native.FunctionForm()
        form.demangled = self._demangle
        form.bias = self._bias & _ALL_BITS
        form.mask = self._mask
        return form

    def text(self, digits: int, style: Style, columns: int = 0) -> Iterator[str]:
        """Lines of text, many at a time; addresses have as many digits. Names that so many columns
        have no room for are shortened as far as all stay different; 0: none is.
        """
        form, chosen = self._form(), self._indices()
        form.digits = digits
        form.columns = columns
        form.width = self._table.longest_source(chosen)
        form.mark = INFERRED_MARK
        form.address = _around(style, "address")
        form.metadata = _around(style, "metadata")
        form.function = _around(style, "function")
        return self._table.pieces(form, chosen)

    def json_items(self) -> Iterator[str]:
        """The items of a JSON array, many at a time, with a newline before the first."""
        form = self._form()
        form.json = True
        return self._table.pieces(form, self._indices())


def _around(style: Style, role: str) -> tuple[str, str]:
    before, _, behind = style.paint(role, "|").partition("|")
    return before, behind


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one module. `bias` (bytes) is added to link addresses, as pointers add."""

    module: str
    build_id: str
    bias: int
    functions: Functions
    remark: str = ""  # why something that was to lend names does not; "" when nothing was refused


def _matching(
    table: native.FunctionList,
    regex: str,
    demangle: bool,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> Functions:
    """The functions whose demangled or raw name `regex` matches anywhere ("" matches all)."""
    try:
        pattern = re.compile(regex)
    except re.error as error:
        raise UsageError(f'"{regex}" is not a regular expression: {error}') from error
    chosen = _fitting(table, pattern, demangle) if regex else None
    mask = _ALL_BITS if image is None else image.wrapped(_ALL_BITS)
    return Functions(table, bias, demangle, chosen, mask)


def select(
    table: native.FunctionList,
    module: str,
    regex: str,
    demangle: bool,
    image: ProcessImage | None = None,
    bias: int = 0,
) -> FunctionTable:
    """The functions of one module whose names `regex` matches."""
    functions = _matching(table, regex, demangle, image, bias)
    wrapped = bias if image is None else image.wrapped(bias)
    return FunctionTable(module, table.build_id, wrapped, functions, table.remark)


def _fitting(table: native.FunctionList, pattern: re.Pattern[str], demangle: bool) -> array[int]:
    """Indices. The names come out of native code by the thousand: of a million, more time would go
    into asking for each than into looking at it."""
    search = pattern.search
    chosen = array("L")
    begin = 0
    while begin < len(table):
        shown, raw = table.names(begin, begin + _NAMES_AT_ONCE, demangle)
        pairs = enumerate(zip(shown, raw), begin)
        chosen.extend(
            [at for at, (one, two) in pairs if search(one) or (one is not two and search(two))]
        )
        begin += len(shown)
    return chosen


def _demangler(demangle: bool) -> Demangle:
    from whocall.base.native_module import native

    return native.demangle if demangle else str


def of_file(
    path: str,
    regex: str,
    demangle: bool,
    search: Search = Search(),
) -> FunctionTable:
    """The functions of one file at link addresses."""
    from whocall.base.native_module import native

    with native_errors():
        table = native.functions(os.fsencode(path), search.names_only().native())
    return select(table, path, regex, demangle)


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
        yield select(table, found.path, regex, demangle, image, found.bias)
    if module in ("", JIT) and (table := image.native.jit_functions()):
        yield select(table, JIT, regex, demangle)


def path_fits(module: native.Module, wanted: str) -> bool:
    """Whether `wanted` is the module's path or whole last parts of it; "" fits all."""
    if not wanted:
        return True
    return any(
        path == wanted or path.endswith(f"/{wanted}") for path in (module.path, module.file_path)
    )


def function_text(
    table: FunctionTable, pointer_size: int, style: Style, columns: int = 0
) -> Iterator[str]:
    """A heading with the module's path, then start, end, source and name of each function: whole
    lines, many at a time. Native code writes them.

    Behind a function that only the code shows stand the other witnesses of its start.
    """
    heading = [("filename", table.module), ("", f": {counted(len(table.functions), 'function')}")]
    yield from (f"{line}\n" for line in broken_pieces(heading, style, columns))
    yield from table.functions.text(pointer_size * 2, style, columns)


def functions_json(tables: Iterable[FunctionTable]) -> Iterator[str]:
    """All tables as JSON text in pieces, laid out as `jsonform.text` does it.

    Native code writes the functions: Python's encoder is written in C only where it need not
    indent.
    """
    yield '{\n "schema": "whocall.functions/1",\n "modules": ['
    between = ""
    for table in tables:
        build_id = quoted(table.build_id) if table.build_id else "null"
        yield (
            f'{between}\n  {{\n   "module": {quoted(table.module)},\n   "build_id": {build_id},\n'
            f'   "bias": "{table.bias:#x}",\n   "functions": ['
        )
        yield from table.functions.json_items()
        yield "\n   ]\n  }" if table.functions else "]\n  }"
        between = ","
    yield "\n ]\n}\n" if between else "]\n}\n"

"""What `whocall symbol`, `functions`, `modules` and `audit` answer, and what completion offers."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.module_warnings import warnings_on
from whocall.gdb_helper.output import style_of
from whocall.report.form import jsonform
from whocall.report.form.sentences import broken

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


def symbols(now: Current, out: Output, wanted: Json) -> None:
    """What stands at addresses, and at functions by their names."""
    from whocall.report.form.file_names import FileNames
    from whocall.report.tables.functions import of_process
    from whocall.report.tables.places import PlaceForm, place_lines
    from whocall.report.tables.wanted_places import PlaceSearch, WantedPlace

    image, demangle = now.image, wanted["demangle"]
    search = PlaceSearch(lambda pattern: of_process(image, "", pattern, demangle))
    places = (WantedPlace(*place) for place in wanted["places"])
    addresses = [image.wrapped(address) for address in search.addresses(places)]
    out.warn(warnings_on(image, addresses))
    form = PlaceForm(style_of(wanted), image.pointer_size, wanted["columns"] or 0,
                     FileNames(wanted["files"], (each.path for each in image.modules)))  # fmt: skip
    for address in addresses:
        out.write(place_lines(image.native.describe(address, demangle=demangle), form))
    search.complain()


def symbols_of_file(search: Search, out: Output, wanted: Json) -> None:
    """The same of a file that does not run, at link addresses."""
    from whocall.base.process_image import open_names
    from whocall.report.form.file_names import FileNames
    from whocall.report.tables.functions import of_file
    from whocall.report.tables.places import PlaceForm, place_lines
    from whocall.report.tables.wanted_places import PlaceSearch, WantedPlace

    path, demangle = wanted["file"], wanted["demangle"]
    names = open_names(path, search=search)
    out.warn([names.remark] if names.remark else [])
    found = PlaceSearch(lambda pattern: [of_file(path, pattern, demangle, search)])
    form = PlaceForm(style_of(wanted), 0, wanted["columns"] or 0, FileNames(wanted["files"], []))
    for address in found.addresses(WantedPlace(*place) for place in wanted["places"]):
        out.write(place_lines(names.describe(address, demangle), form))
    found.complain()


def functions(now: Current, out: Output, wanted: Json) -> None:
    """Functions at their runtime addresses."""
    from whocall.report.tables.functions import function_text, functions_json, of_process

    regex = wanted["regex"]
    tables = of_process(now.image, wanted["module"], regex, wanted["demangle"])
    if wanted["json"]:
        out.write_json(functions_json(tables))
        return
    style, columns = style_of(wanted), wanted["columns"] or 0
    for table in tables:
        if table.functions or not regex:
            out.write_pieces(function_text(table, now.image.pointer_size, style, columns))


def functions_of_file(search: Search, out: Output, wanted: Json) -> None:
    """Functions of a file that does not run, at link addresses."""
    from whocall.base.elf_head import address_size
    from whocall.report.tables.functions import function_text, functions_json, of_file

    path = wanted["file"]
    table = of_file(path, wanted["regex"], wanted["demangle"], search)
    if wanted["json"]:
        out.write_json(functions_json([table]))
        return
    out.warn([table.remark] if table.remark else [])
    columns = wanted["columns"] or 0
    out.write_pieces(function_text(table, address_size(path), style_of(wanted), columns))


def modules(now: Current, out: Output, wanted: Json) -> None:
    """The loaded files."""
    from whocall.report.tables.module_table import module_lines
    from whocall.report.tables.modules import all_facts, jit_line, modules_json, on_gdb, warnings

    facts = all_facts(now.image)
    advice = on_gdb(wanted["asks_debuginfod"])
    if wanted["json"]:
        out.write_json([jsonform.text(modules_json(now.image, facts, advice))])
        return
    out.warn(warnings(now.image, facts))
    columns = wanted["columns"] or 0
    out.write(module_lines(facts, advice, style_of(wanted), columns))
    out.write(line for told in jit_line(now.image) for line in broken(told, columns))


def module_ranges(now: Current, out: Output, wanted: Json) -> list[tuple[int, int, str, str, str]]:
    """Begin and end, state, file, path in the process."""
    return [
        (module.begin, module.end, module.state, module.file_path, module.path)
        for module in now.image.modules
    ]


def function_names(now: Current, out: Output, wanted: Json) -> list[str]:
    """Names that begin with `start`, `most` of them, of the module that is named."""
    from whocall.report.tables.functions import path_fits

    found: set[str] = set()
    start, most = wanted["start"], wanted["most"]
    names_of = _Names(wanted["search"], wanted["demangle"])
    for module in now.image.modules:
        if len(found) < most and module.state == "found" and path_fits(module, wanted["module"]):
            names = names_of(module.file_path)
            begin = bisect_left(names, start)
            found.update(takewhile(lambda name: name.startswith(start), names[begin:][:most]))
    return sorted(found)[:most]


class _Names:
    def __init__(self, search: Search, demangle: bool) -> None:
        self._search = search
        self._demangle = demangle

    def __call__(self, path: str) -> list[str]:
        return _names(path, Path(path).stat().st_mtime_ns, self._search, self._demangle)


@lru_cache(maxsize=64)
def _names(path: str, written: int, search: Search, demangle: bool) -> list[str]:
    """Names in a file as regular expressions: as far as no character means anything else there.

    `written` is the file's time. Names that whocall would have to infer are left out: TAB is not to
    take seconds.
    """
    from whocall.base.native_module import native
    from whocall.base.process_image import open_symbols

    table = open_symbols(path, search=search)
    shown = native.demangle if demangle else str
    named = (table[at] for at in range(len(table)))
    heads = (
        re.split(r"[^\w:.<>,~@-]", shown(each.name), maxsplit=1)[0] for each in named if each.named
    )
    return sorted({head for head in heads if head})


def audit(search: Search, out: Output, wanted: Json) -> None:
    """How far the analysis can be trusted on a file."""
    from whocall.report.tables.audit import audit_file, audit_json, audit_lines

    found = audit_file(wanted["file"], wanted["limit"], wanted["demangle"])
    if wanted["json"]:
        out.write_json([jsonform.text(audit_json(found))])
        return
    out.write(audit_lines(found, style_of(wanted), wanted["columns"] or 0))

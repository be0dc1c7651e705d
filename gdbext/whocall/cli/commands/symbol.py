"""`whocall symbol`: what stands at addresses of a file or a core."""

from __future__ import annotations

from whocall.base.errors import UsageError
from whocall.cli.inputs import (
    is_core,
    open_named_core,
    parse_address,
    wanted_columns,
    wanted_search,
    wanted_style,
)
from whocall.cli.outputs import warn, write, write_json
from whocall.report.form import jsonform
from whocall.report.tables.wanted_places import WantedPlace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


_SHORTEST = 8  # digits of an address of a core


def _wanted_place(text: str) -> WantedPlace:
    may_be_name = text[:1].isalpha() and len(text) < _SHORTEST  # `add`, `feed`, `f1`
    try:
        return WantedPlace(parse_address(text), text if may_be_name else "")
    except UsageError:
        refused = f"{text!r} is neither a hexadecimal address nor the name of a function here"
        return WantedPlace(None, text, refused)


def run(arguments: Values) -> int:
    """`whocall symbol`."""
    from whocall.base.module_warnings import warnings_on
    from whocall.base.process_image import open_names
    from whocall.report.form.file_names import FileNames
    from whocall.report.tables.functions import of_file, of_process
    from whocall.report.tables.places import PlaceForm, place_lines, places_json
    from whocall.report.tables.wanted_places import PlaceSearch

    wanted = [_wanted_place(text) for text in arguments.addresses]
    demangle = not arguments.no_demangle
    if is_core(arguments.file):
        image = open_named_core(arguments.file, arguments.exe, arguments)
        search = PlaceSearch(lambda pattern: of_process(image, "", pattern, demangle))
        addresses = [image.wrapped(address) for address in search.addresses(wanted)]
        remarks = list(warnings_on(image, addresses))
        places = [image.native.describe(address, demangle=demangle) for address in addresses]
        modules, size = [each.path for each in image.modules], image.pointer_size
    else:
        where = wanted_search(arguments)
        names = open_names(arguments.file, search=where)
        search = PlaceSearch(lambda pattern: [of_file(arguments.file, pattern, demangle, where)])
        places = [names.describe(address, demangle) for address in search.addresses(wanted)]
        remarks = [names.remark] if names.remark else []
        modules, size = [], 0
    if arguments.json:
        write_json([jsonform.text(places_json(places, remarks + search.complaints))])
        return 1 if search.complaints else 0
    warn(remarks)
    files = FileNames(arguments.filename_display, modules)
    form = PlaceForm(wanted_style(arguments), size, wanted_columns(arguments) or 0, files)
    for place in places:
        write(place_lines(place, form))
    search.complain()
    return 0

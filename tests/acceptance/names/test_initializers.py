"""Names by the place among the functions that run before and after main. The oracle is the program
itself: its constructors and destructors say in which order they run, nm says where they lie.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.tools import run

from acceptance.helpers import name_twins
from whocall.base.native_module import native

SOURCE = r"""
#include <stdio.h>
#define EARLY(name, order) \
  static void __attribute__((constructor(order))) name(void) { puts(#name); }
#define LATE(name, order) \
  static void __attribute__((destructor(order))) name(void) { puts(#name); fflush(stdout); }
EARLY(first, 201) EARLY(second, 202) EARLY(third, 203)
LATE(last, 201) LATE(last_but_one, 202)
int main(void) { return 0; }
"""
ORDER = ["first", "second", "third", "last_but_one", "last"]


def initializers(path: Path) -> dict[str, int]:
    """Place to address."""
    table = native.functions(str(path))
    found = (table[at] for at in range(len(table)))
    return {each[2]: each[0] for each in found if each[3] == "initializer"}


def numbered(places: dict[str, int], array: str) -> list[int]:
    """The addresses of one array's functions, by their number."""
    slots = {int(found.group(1)): at for place, at in places.items()
             if (found := re.fullmatch(rf"{array}\[(\d+)\]", place))}  # fmt: skip
    return [slots[number] for number in sorted(slots)]


@pytest.mark.parametrize(
    "flags", ["", "-no-pie", "-static", "-static-pie", "-Wl,-z,pack-relative-relocs", "-m32",
              "-m32 -static"],
)  # fmt: skip
def test_places_are_those_in_which_the_functions_run(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), source=SOURCE)
    assert run([str(twin)]).split() == ORDER
    where = {each.name: each.address for each in nm_table.symbols(twin)}
    places = initializers(name_twins.stripped(twin))
    early, late = numbered(places, "init_array"), numbered(places, "fini_array")
    own = [each for each in early if each in {where[name] for name in ORDER}]
    assert own == [where[name] for name in ("first", "second", "third")]
    own = [each for each in reversed(late) if each in {where[name] for name in ORDER}]
    assert own == [where[name] for name in ("last_but_one", "last")]
    assert where["frame_dummy"] in early
    assert where["__do_global_dtors_aux"] in late


def test_a_function_in_two_places_has_no_name(tmp_path: Path) -> None:
    source = """
      static int runs;
      static void again(void) { ++runs; }
      static void (*const places[])(void) __attribute__((section(".init_array"), used)) =
        {again, again};
      int main(void) { return runs; }
    """
    twin = name_twins.build(tmp_path, source=source)
    again = next(each.address for each in nm_table.symbols(twin) if each.name == "again")
    assert again not in initializers(name_twins.stripped(twin)).values()


def test_a_better_name_goes_first(tmp_path: Path) -> None:
    """The symbol of an exported constructor stays."""
    source = """
      __attribute__((constructor)) void exported_early(void) { __asm__(""); }
      int main(void) { return 0; }
    """
    twin = name_twins.build(tmp_path, "-rdynamic", source=source)
    table = native.functions(str(name_twins.stripped(twin)))
    named = {table[at][2]: table[at][3] for at in range(len(table))}
    assert named["exported_early"] == "dynsym"

"""Names from files that the user gives, in every form: every name is the twin's.

The oracle is nm on the unstripped file. Linker maps and lists of symbols are written by the
toolchain itself, the others by name_lists.py.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from oracles.linkers import LINKERS
from oracles.tools import run

from acceptance.helpers import name_lists, name_twins
from acceptance.helpers.function_tables import make_unstripped
from acceptance.name_files.given_lists import PRINTED, SOURCE, score, search, written
from whocall import open_symbols
from whocall.base.native_module import native


@pytest.fixture(scope="session")
def unstripped() -> tuple[Path, ...]:
    """Real code with all its symbols."""
    return make_unstripped()


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize(
    "flags", [(), ("-no-pie",), ("-fno-asynchronous-unwind-tables",)], ids=["pie", "fixed", "bare"]
)
def test_every_form_gives_the_names_of_the_twin(
    form: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    twin = name_twins.build(tmp_path, *flags, source=SOURCE)
    bare = name_twins.stripped(twin)
    found = score(bare, twin, written(tmp_path / "list", PRINTED[form](twin)))
    assert not found.contradictions
    assert found.by_source.keys() == {"symbol-file"}
    own = {"depth", "middle", "by_pointer", "exported", "main"}
    table = open_symbols(str(bare), search=search(str(tmp_path / "list")))
    assert own <= {table[at].name for at in range(len(table))}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("sections", ["-fno-function-sections", "-ffunction-sections"])
@pytest.mark.parametrize("unwinding", ["", "-fno-asynchronous-unwind-tables"])
def test_linker_maps(linker: str, sections: str, unwinding: str, tmp_path: Path) -> None:
    link = tmp_path / "twin.map"
    flags = [f"-fuse-ld={linker}", f"-Wl,-Map={link}", sections, *filter(None, [unwinding])]
    twin = name_twins.build(tmp_path, *flags, source=SOURCE)
    bare = name_twins.stripped(twin)
    found = score(bare, twin, str(link))
    print(f"\n{linker} {sections} {unwinding}: {found.share():.0%} of {found.functions}", end="")
    assert not found.contradictions
    names = native.FileNames(os.fsencode(bare), search=search(str(link)).native())
    told = {"exported", "main"}  # maps of GNU ld and gold have no local symbols
    if linker in ("lld", "mold") or sections == "-ffunction-sections":
        told |= {"depth", "middle", "by_pointer"}
    for each in name_lists.functions_of(twin):
        inside = names.describe(each.address + max(each.size - 1, 0)).function
        if each.name in told:
            assert inside == each.name
        elif each.size:
            assert inside is None or inside.startswith("sub_") or inside == each.name, each.name


def test_real_code(unstripped: tuple[Path, ...], tmp_path: Path) -> None:
    """Every name is the twin's, whatever the form: each form with some of the files."""
    twin = tmp_path / "twin"
    forms = itertools.cycle([("nm", "JSON"), ("nm -S", "readelf -sW")])
    for path, some in zip(unstripped, forms, strict=False):
        twin.write_bytes(path.read_bytes())
        bare = name_twins.stripped(twin)
        for form in some:
            found = score(bare, twin, written(tmp_path / "list", PRINTED[form](twin)))
            assert not found.contradictions, (path, form, found.contradictions[:3])
            table = open_symbols(str(bare), search=search(str(tmp_path / "list")))
            named = {table[at].start for at in range(len(table)) if table[at].named}
            true = {each.address for each in name_lists.functions_of(twin) if each.size}
            share = len(named & true) / len(true)
            print(f"\n{path.name}, {form}: {share:.1%} of {len(true)}", end="")
            assert share > 0.99, (path, form)


def test_demangled_names(tmp_path: Path) -> None:
    source = "namespace deep { struct A { int f(char) const; }; int A::f(char) const { return 1; }"
    source += " } int main() { return deep::A().f('c'); }"
    twin = name_twins.build(tmp_path, source=source, compiler="g++")
    bare = name_twins.stripped(twin)
    for option in (["-C"], ["-C", "-f", "sysv"]):
        listed = written(tmp_path / "list", run(["nm", *option, str(twin)]))
        table = open_symbols(str(bare), search=search(listed))
        assert "deep::A::f(char) const" in {table[at].name for at in range(len(table))}


def test_lines_and_inlined_calls_of_breakpad(tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, source=SOURCE)
    bare = name_twins.stripped(twin)
    load = name_lists.first_load(twin)
    main = next(each for each in name_lists.functions_of(twin) if each.name == "main")
    inlined = f"INLINE 0 77 0 5 {main.address - load:x} {main.size:x}"
    text = name_lists.breakpad(twin, inlined).replace("FILE 0", "INLINE_ORIGIN 5 small\nFILE 0", 1)
    names = native.FileNames(
        os.fsencode(bare), search=search(written(tmp_path / "bare.sym", text)).native()
    )
    for each in name_lists.functions_of(twin):
        rows = [row for row in name_lists.source_rows(twin) if row[2]]
        at = each.address + each.size - 1
        before = [row for row in rows if row[0] <= at]
        if each.name not in ("depth", "middle", "exported", "main"):
            continue
        lines = names.describe(at).lines
        if each.name == "main":
            assert [(line[0], line[2]) for line in lines] == [
                ("small", before[-1][2]),
                ("main", 77),
            ]
        else:
            assert [(line[0], line[2]) for line in lines] == [(each.name, before[-1][2])]


@pytest.mark.parametrize("form", PRINTED)
def test_line_ends_and_marks(form: str, twin: Path, tmp_path: Path) -> None:
    """Carriage returns, a byte order mark and a missing last line feed change nothing."""
    bare = name_twins.stripped(twin)
    text = PRINTED[form](twin)
    path = tmp_path / "list"
    path.write_text(text)
    plain = score(bare, twin, str(path))
    path.write_bytes(b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode())
    changed = score(bare, twin, str(path))
    assert not changed.contradictions
    assert changed.right == plain.right > 0

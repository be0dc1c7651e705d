"""The files written for debuggers say, in other tools' words, what was meant.

readelf and nm read the file; they must find the sections of the original, the rules that the
unwind tables had before they were taken away, and the names that the rules for names ask for. Files
of the distribution are read with their unwind tables and without, for both x86 instruction sets.
"""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest
from oracles import nm_table, readelf_cfi
from oracles.tools import environment, run

from acceptance.helpers.name_twins import build, build_id_path, debug_file, stripped
from acceptance.rows.test_cfi_rows import check
from whocall.base.native_module import native

EVERYTHING = 1 << 62  # bytes of code
TABLES = [
    "--remove-section=.eh_frame",
    "--remove-section=.eh_frame_hdr",
    "--remove-section=.debug_frame",
]


def _library(name: str, *flags: str) -> Path:
    return Path(run(["gcc", *flags, f"-print-file-name={name}"]).strip()).resolve()


SOURCES: dict[str, Callable[[], Path]] = {
    "bash": lambda: Path("/bin/bash").resolve(),
    "libm": lambda: _library("libm.so.6"),
    "libc-i386": lambda: _library("libc.so.6", "-m32"),
}


# How often a CFA that the analysis finds is told by the very register and offset of the tables.
AGREEMENT = {"bash": 0.99, "libm": 0.99, "libc-i386": 0.95}


class Made(NamedTuple):
    """A file, the symbol file made for it, and what was said of that."""

    file: Path
    symbols: Path
    told: native.RepairFile


def make(file: Path, symbols: Path, search: native.FileSearch | None = None) -> Made:
    """The symbol file with all names and rules."""
    process = native.open_file(str(file), search or native.FileSearch())
    told = process.repair_file(0, budget=EVERYTHING)
    symbols.write_bytes(told.bytes)
    return Made(file, symbols, told)


@pytest.fixture(scope="module")
def made_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Made]:
    """By the name of a source, with its unwind tables or without."""

    @cache
    def find(name: str, covered: bool) -> Made:
        folder = tmp_path_factory.mktemp(name)
        file = folder / "file"
        run(["objcopy", *([] if covered else TABLES), str(SOURCES[name]()), str(file)])
        return make(file, folder / "symbols")

    return find


class Section(NamedTuple):
    """A line of `readelf -SW`."""

    name: str
    kind: str
    address: int
    size: int
    flags: str


def sections(file: Path) -> list[Section]:
    """By number."""
    line = re.compile(
        r"^ +\[ *\d+\] (\S*) +(\S+) +([0-9a-f]{8,}) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]{2} +(\S*?) +\d"
    )
    found = [line.match(each) for each in run(["readelf", "-SW", str(file)]).splitlines()]
    return [
        Section(each[1], each[2], int(each[3], 16), int(each[4], 16), each[5])
        for each in found
        if each
    ]


class Entry(NamedTuple):
    """A line of `readelf -sW`."""

    value: int
    size: int
    kind: str
    section: str
    name: str


def entries(file: Path) -> list[Entry]:
    """The symbols, but for the empty first one."""
    found = []
    for line in run(["readelf", "-sW", str(file)]).splitlines():
        words = line.split(None, 7)
        if len(words) == 8 and words[0].rstrip(":").isdigit():
            found.append(Entry(int(words[1], 16), int(words[2], 0), words[3], words[6], words[7]))
    return found


def header(file: Path) -> list[str]:
    """What has to be the same of both."""
    wanted = ("Class:", "Data:", "Type:", "Machine:", "Entry point")
    return [
        line.partition(" (")[0]  # in brackets stands what readelf concludes from the contents
        for line in run(["readelf", "-hW", str(file)]).splitlines()
        if line.strip().startswith(wanted)
    ]


@pytest.mark.parametrize("covered", [True, False], ids=["with tables", "without"])
@pytest.mark.parametrize("name", SOURCES)
def test_sections_are_those_of_the_original(
    name: str, covered: bool, made_for: Callable[[str, bool], Made]
) -> None:
    made = made_for(name, covered)
    loaded = [each for each in sections(made.file) if "A" in each.flags]
    copies = [each for each in sections(made.symbols) if "A" in each.flags]
    assert len(loaded) > 15
    assert [(each.name, each.address, each.size) for each in loaded] == [
        (each.name, each.address, each.size) for each in copies
    ]
    assert {each.kind for each in copies if each.name != ".note.gnu.build-id"} == {"NOBITS"}
    assert len(header(made.file)) == 5
    assert header(made.file) == header(made.symbols)
    notes = [run(["readelf", "-nW", str(each)]) for each in (made.file, made.symbols)]
    ids = [re.findall(r"Build ID: (\w+)", each) for each in notes]
    assert ids[0]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("covered", [True, False], ids=["with tables", "without"])
@pytest.mark.parametrize("name", SOURCES)
def test_symbols_lie_in_their_sections(
    name: str, covered: bool, made_for: Callable[[str, bool], Made]
) -> None:
    made = made_for(name, covered)
    places = sections(made.symbols)
    found = entries(made.symbols)
    assert len(found) == made.told.named + made.told.unnamed > 100
    for symbol in found:
        assert symbol.kind == "FUNC", symbol
        section = places[int(symbol.section)]
        assert section.address <= symbol.value < section.address + section.size, (symbol, section)
        assert symbol.size > 0, symbol
        if symbol.name.startswith("sub_"):
            assert int(symbol.name[4:], 16) == symbol.value
    exported = {each.address for each in nm_table.symbols(made.file, dynamic=True)}
    assert not exported & {symbol.value for symbol in found}


@pytest.mark.parametrize("name", SOURCES)
def test_rules_agree_with_the_tables_that_were_taken_away(
    name: str, made_for: Callable[[str, bool], Made]
) -> None:
    made = made_for(name, False)
    assert check(made.symbols)[".debug_frame"] >= 500  # readelf reads the rows that we read
    written: dict[int, str] = {}
    for fde in readelf_cfi.fdes(made.symbols):
        for row, after in zip_longest(fde.rows, fde.rows[1:]):
            written.update(
                dict.fromkeys(range(row.loc, after.loc if after else fde.pc_end), row.cfa)
            )
    compared = agreed = 0
    for fde in readelf_cfi.fdes(SOURCES[name]()):
        for row in fde.rows:
            if row.loc in written and row.cfa != "exp":
                compared += 1
                agreed += row.cfa == written[row.loc]
    print(f"\n{name}: {agreed} of {compared} CFAs agree", end="")
    assert compared > 4000
    assert agreed >= AGREEMENT[name] * compared


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_table_covers_gets_no_rules(
    name: str, made_for: Callable[[str, bool], Made]
) -> None:
    made = made_for(name, True)
    covered = sorted((fde.pc_begin, fde.pc_end) for fde in readelf_cfi.fdes(made.file))
    assert len(covered) > 500
    for begin, end, _ in native.cfi_rows(str(made.symbols), ".debug_frame"):
        assert not [one for one in covered if one[0] < end and begin < one[1]], hex(begin)


def test_the_stack_ends_at_the_entry_point(made_for: Callable[[str, bool], Made]) -> None:
    made = made_for("bash", False)
    said = run(["readelf", "-hW", str(made.file)])
    entry = int(re.findall(r"Entry point address: +0x(\w+)", said)[0], 16)
    [fde] = [fde for fde in readelf_cfi.fdes(made.symbols) if fde.pc_begin == entry]
    assert {row.rules["ra"] for row in fde.rows} == {"u"}


@pytest.mark.parametrize("flags", [(), ("-m32",)], ids=["64", "32"])
def test_names(flags: tuple[str, ...], tmp_path: Path) -> None:
    twin = build(tmp_path, *flags)
    true = {each.name: each.address for each in nm_table.symbols(twin)}
    made = make(stripped(twin), tmp_path / "symbols")
    names = {each.name: each.value for each in entries(made.symbols)}
    plain = {name for name in names if not name.startswith("sub_") and not name.endswith("?")}
    assert "main" in plain  # proven: debuggers look for it, so it has no mark
    assert all(names[name] == true[name] for name in plain)
    starts = set(names.values())
    assert {true[name] for name in ("depth", "middle", "exported", "early", "late")} <= starts
    for name, address in names.items():
        assert not name.startswith("sub_") or name == f"sub_{address:x}"


def test_names_of_a_debug_file_are_told_unless_the_debugger_has_them(tmp_path: Path) -> None:
    twin = build(tmp_path)
    bare = stripped(twin)
    debug_file(twin, build_id_path(tmp_path / "debug", native.open_symbols(str(twin)).build_id))
    search = native.FileSearch()
    search.debug_directories = [str(tmp_path / "debug")]
    told = make(bare, tmp_path / "symbols", search)
    true = {each.name: each.address for each in nm_table.symbols(twin)}
    names = {each.name: each.value for each in entries(told.symbols)}
    assert {"depth", "middle", "exported", "main"} <= names.keys()
    assert all(true[name] == names[name] for name in ("depth", "middle", "exported", "main"))
    silent = native.open_file(str(bare), search).repair_file(0, debug_names=False, rows=False)
    assert silent.bytes == b""  # the debugger reads all of them
    assert silent.named == silent.unnamed == 0


def test_the_same_request_gives_the_same_bytes(tmp_path: Path) -> None:
    bare = stripped(build(tmp_path))
    run(["objcopy", *TABLES, str(bare)])
    first, second = (make(bare, tmp_path / "symbols").told.bytes for _ in range(2))
    assert first == second


def test_tools_have_no_complaint(made_for: Callable[[str, bool], Made]) -> None:
    for name in SOURCES:
        symbols = made_for(name, False).symbols
        for command in (["readelf", "-aW"], ["objdump", "-ht"], ["nm"]):
            said = subprocess.run(
                [*command, str(symbols)], env=environment(), capture_output=True, check=True
            )
            assert said.stderr == b"", command


def test_damaged_files_give_whole_files_or_errors(tmp_path: Path) -> None:
    bare = stripped(build(tmp_path))
    run(["objcopy", *TABLES, str(bare)])
    whole = bare.read_bytes()
    chance = random.Random(11)
    outcomes = {"made": 0, "refused": 0}
    damaged = tmp_path / "damaged"
    for turn in range(150):
        length = chance.randrange(len(whole)) if turn % 3 == 0 else len(whole)
        contents = bytearray(whole[: length if turn % 10 else chance.randrange(64)])
        headers = (0, min(800, len(contents))) if turn % 2 else (len(whole) - 2200, len(whole))
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(*headers)
            if at < len(contents):
                contents[at] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        damaged.write_bytes(contents)
        try:
            made = make(damaged, tmp_path / "symbols").told
        except native.Error as error:
            assert str(damaged) in str(error)
            outcomes["refused"] += 1
            continue
        outcomes["made"] += 1
        if made.bytes:
            assert len(entries(tmp_path / "symbols")) == made.named + made.unnamed
    assert outcomes["refused"] >= 10, outcomes
    assert outcomes["made"] >= 100, outcomes


def test_a_linkage_table_of_any_size(tmp_path: Path) -> None:
    bare = stripped(build(tmp_path, "-Wl,-z,lazy", "-fcf-protection=none"))
    run(["objcopy", *TABLES, str(bare)])
    number = [each.name for each in sections(bare)].index(".plt")
    contents = bytearray(bare.read_bytes())
    (headers,) = struct.unpack_from("<Q", contents, 40)  # e_shoff
    struct.pack_into("<Q", contents, headers + number * 64 + 32, 0xFF00000000000040)  # sh_size
    damaged = tmp_path / "damaged"
    damaged.write_bytes(contents)
    assert make(damaged, tmp_path / "symbols").told.functions

"""Our function tables against libbfd's, as nm and objdump print them: nothing missing, nothing
extra, every look-up the one that a linear search gives.

The files are the unstripped ones of oracles.unstripped: the distribution's own archives linked
whole, some 60,000 functions of eleven and more projects.
"""

from __future__ import annotations

import array
import random
import time
from pathlib import Path

import pytest
from oracles import nm_table, objdump_table, readelf_cfi
from oracles.tools import run

from acceptance.helpers.function_tables import (
    code_sections,
    each_of,
    make_unstripped,
    names_of,
    plain,
    table_of,
)
from whocall import open_symbols

NOTHING = 0xFFFFFFFF


@pytest.fixture(scope="session")
def unstripped_files() -> tuple[Path, ...]:
    """Real code with all its symbols."""
    return make_unstripped()


def test_every_function_that_nm_knows(unstripped_files: tuple[Path, ...]) -> None:
    """Both ways: each t, T, w, W and i of nm that lies in code is in our table, at its address,
    and our table names nothing else.

    nm's letters do not tell code from weak data (`W data_start`); the section does, of which
    objdump tells by symbol.
    """
    total = 0
    for path in unstripped_files:
        code = code_sections(path)
        data = {
            (symbol.address, symbol.name)
            for symbol in objdump_table.symbols(path)
            if symbol.section not in code
        }
        expected = {
            (symbol.address, plain(symbol.name))
            for symbol in nm_table.symbols(path)
            if (symbol.address, symbol.name) not in data
        }
        found = names_of(table_of(path))
        assert found == expected, path.name
        total += len(expected)
        print(f"\n{path.name}: {len(expected)} functions", end="")
    assert total > 50000


def test_objdump_agrees(unstripped_files: tuple[Path, ...]) -> None:
    """libbfd's own idea of what a function is (types FUNC and IFUNC) is within ours; what ours has
    beyond it are labels without a type, in code; sizes are those of the file.
    """
    for path in unstripped_files:
        code = code_sections(path)
        symbols = [symbol for symbol in objdump_table.symbols(path) if symbol.section in code]
        functions = {(each.address, plain(each.name)) for each in symbols if each.is_function}
        labels = {(each.address, plain(each.name)) for each in symbols if not each.is_function}
        table = table_of(path)
        found = names_of(table)
        assert functions <= found, path.name
        assert found - functions <= labels, path.name
        sizes: dict[tuple[int, str], set[int]] = {}
        for each in symbols:
            if each.size:
                sizes.setdefault((each.address, plain(each.name)), set()).add(each.size)
        wrong = [
            (hex(each.start), each.name)
            for each in each_of(table)
            if each.named
            and (known := sizes.get((each.start, each.name)))
            and each.end - each.start not in known
        ]
        assert not wrong, f"{path.name}: {wrong[:5]}"


def test_nameless_functions_are_those_of_unwind_tables(unstripped_files: tuple[Path, ...]) -> None:
    """What has no name begins where an FDE begins, and no named function covers it."""
    nameless = 0
    for path in unstripped_files:
        table = table_of(path)
        found = [each for each in each_of(table) if not each.named]
        if not found:
            continue
        starts = {fde.pc_begin for fde in readelf_cfi.fdes(path)}
        assert {each.source for each in found} == {"fde"}
        assert {each.start for each in found} <= starts, path.name
        named = {each.start for each in each_of(table) if each.named}
        assert not {each.start for each in found} & named
        nameless += len(found)
    assert nameless, "no file has one: the test shows nothing"


def test_every_fde_has_a_function() -> None:
    """Of a stripped program the unwind tables are all there is: no FDE may be lost."""
    path = Path("/bin/bash")
    table = table_of(path)
    starts = {fde.pc_begin for fde in readelf_cfi.fdes(path) if fde.pc_end > fde.pc_begin}
    lost = [start for start in starts if table.find(start) is None]
    assert not lost
    assert len({each.start for each in each_of(table)} & starts) >= 0.99 * len(starts)


DYNAMIC = ("libc.so.6", "libstdc++.so.6", "libm.so.6")


@pytest.mark.parametrize("machine", ["-m64", "-m32"])
@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic_symbols_of_stripped_libraries(name: str, machine: str) -> None:
    """.dynsym of what the distribution strips, versions put aside, both ways, by nm and objdump."""
    path = Path(run(["gcc", machine, f"-print-file-name={name}"]).strip()).resolve()
    code = code_sections(path)
    by_objdump = {
        (symbol.address, symbol.name)
        for symbol in objdump_table.symbols(path, dynamic=True)
        if symbol.section in code
    }
    by_nm = {
        (symbol.address, plain(symbol.name)) for symbol in nm_table.symbols(path, dynamic=True)
    }
    found = names_of(table_of(path))
    assert found == by_objdump
    assert found <= by_nm
    print(f"\n{path.name} {machine}: {len(found)} names", end="")


def linear_search(ranges: list[tuple[int, int, int]], address: int) -> int:
    """Of all functions that cover the address the one with the nearest start; of equals the first.

    `ranges` are (start, end, index), as short or long as one likes.
    """
    best = NOTHING
    nearest = -1
    for start, end, index in ranges:
        if start <= address < end and start > nearest:
            best, nearest = index, start
    return best


def test_look_ups_equal_a_linear_search(unstripped_files: tuple[Path, ...]) -> None:
    random_addresses = random.Random(1)
    for path in unstripped_files:
        table = table_of(path)
        ranges = [(each.start, each.end, index) for index, each in enumerate(each_of(table))]
        edges = [edge for start, end, _ in ranges for edge in (start - 1, start, end - 1, end)]
        low, high = min(edges), max(edges)
        wanted = [random_addresses.randint(max(0, low - 999), high + 999) for _ in range(100)]
        wanted += [max(0, random_addresses.choice(edges)) for _ in range(100)]
        wanted += [0, 1, 2**64 - 1, 2**63, 2**32]
        batch = array.array("I", table.find_many(array.array("Q", wanted))).tolist()
        expected = [linear_search(ranges, address) for address in wanted]
        assert batch == expected, path.name
        single = [table.find(address) for address in wanted]
        assert [NOTHING if found is None else found for found in single] == expected, path.name
        assert any(found != NOTHING for found in expected)


def test_all_edges_of_one_table(unstripped_files: tuple[Path, ...]) -> None:
    """Batch and single agree on every start, end and their neighbours of the largest table."""
    table = max((table_of(path) for path in unstripped_files), key=len)
    edges = {max(0, each.start + by) for each in each_of(table) for by in (-1, 0, 1)}
    edges |= {max(0, each.end + by) for each in each_of(table) for by in (-1, 0)}
    wanted = array.array("Q", sorted(edges))
    started = time.perf_counter()
    found = array.array("I", table.find_many(wanted))
    seconds = time.perf_counter() - started
    print(f"\n{len(wanted)} look-ups of {len(table)}: {seconds / len(wanted) * 1e9:.1f} ns", end="")
    assert [table.find(address) for address in wanted] == [
        None if index == NOTHING else index for index in found
    ]


def test_find_many_takes_only_addresses() -> None:
    table = table_of(Path("/bin/bash"))
    assert table.find_many(array.array("Q")) == b""
    for wrong in (b"12345678", array.array("I", [1]), memoryview(array.array("Q", [1, 2, 3]))[::2]):
        with pytest.raises(ValueError, match="8-byte"):
            table.find_many(wrong)


def test_find_many_takes_lists() -> None:
    table = table_of(Path("/bin/bash"))
    wanted = [table[at].start for at in range(0, len(table), 7)] + [0, 2**64 - 1]
    assert table.find_many(wanted) == table.find_many(array.array("Q", wanted))
    assert table.find_many(tuple(wanted)) == table.find_many(wanted)
    assert table.find_many([]) == b""
    for wrong in ([-1], [2**64], ["4198400"], [None], [1.5]):
        with pytest.raises(ValueError, match="the list has to hold addresses"):
            table.find_many(wrong)  # type: ignore[arg-type]


def test_a_wrong_argument_is_not_printed() -> None:
    table = table_of(Path("/bin/bash"))
    for wrong in (set(range(4000)), dict.fromkeys(range(4000)), "4198400" * 999, 4198400, None):
        with pytest.raises(TypeError) as caught:
            table.find_many(wrong)  # type: ignore[arg-type]
        assert len(str(caught.value)) < 200


def test_another_format_through_libbfd(unstripped_files: tuple[Path, ...], tmp_path: Path) -> None:
    """A PE file made of an ELF file has the same functions; libbfd reads it, through our plugin."""
    (source,) = (path for path in unstripped_files if path.name == "libz.elf")
    converted = tmp_path / "libz.exe"
    run(["objcopy", "-O", "pei-x86-64", str(source), str(converted)])
    table = open_symbols(str(converted))
    assert table.format == "pei-x86-64"
    found = names_of(table)
    in_text = {
        (symbol.address, symbol.name)
        for symbol in nm_table.symbols(converted, types=frozenset("tT"))
    }
    assert {name for _, name in in_text} >= {"inflate", "deflate"}
    assert found == in_text
    assert {name for _, name in names_of(table_of(source))} == {name for _, name in found}


def test_building_the_largest_table_is_told(unstripped_files: tuple[Path, ...]) -> None:
    """No threshold: it prints how long the table of the largest file takes."""
    largest = max(unstripped_files, key=lambda path: len(table_of(path)))
    started = time.perf_counter()
    table = table_of(largest)
    seconds = time.perf_counter() - started
    print(f"\n{largest.name}: {len(table)} functions in {seconds * 1000:.1f} ms", end="")
    assert len(table) > 5000

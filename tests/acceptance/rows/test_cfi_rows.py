"""Every FDE compiled to rows says what `readelf -wF` says: the same ranges, rows and rules.

readelf is a separate implementation of the DWARF tables. It prints expressions as `exp` and `vexp`
only, so here they are compared by presence. Two things of notation are settled by `normal`: a rule
"kept in another register" is written by number in readelf and by name in ours, and `u` of a
register other than the return address is no word of readelf's (see oracles.readelf_cfi); the
hand-written rows state it literally.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest
from oracles import nm_table, readelf_cfi
from oracles.readelf_cfi import Row
from oracles.tools import run

from acceptance.rows.cfi_sources import (
    DEBUG,
    EH,
    VARIANTS,
    Variant,
    assemble,
    compile_variant,
    expected_hand_written,
)
from whocall.base.native_module import native

SECTIONS = (EH, DEBUG)

# DWARF numbers, from the processor supplements of the System V ABI.
_X86_64 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
           *(f"r{number}" for number in range(8, 16))]  # fmt: skip
_I386 = ["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"]
_NUMBERS_64 = {name: f"r{number}" for number, name in enumerate(_X86_64)}
_NUMBERS_32 = {name: f"r{number}" for number, name in enumerate(_I386)}

Table = list[tuple[int, int, list[Row]]]


def _is_32_bit(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(5)[4] == 1


def normal(rows: list[tuple[int, str, dict[str, str]]], numbers: dict[str, str]) -> list[Row]:
    """Our rows in readelf's words, repetitions taken out as they are taken out of readelf's."""
    return readelf_cfi.merged(
        Row(
            begin,
            cfa,
            {
                name: numbers.get(rule, rule)
                for name, rule in rules.items()
                if rule != "u" or name == "ra"
            },
        )
        for begin, cfa, rules in rows
    )


def _key(entry: tuple[int, int, list[Row]]) -> tuple[int, int, str]:
    """Two FDEs may have one range (the linker keeps both): their rows decide the order then."""
    rows = [(row.loc, row.cfa, sorted(row.rules.items())) for row in entry[2]]
    return entry[0], entry[1], repr(rows)


def ours(path: Path, section: str) -> Table:
    """whocall's FDEs of a section."""
    numbers = _NUMBERS_32 if _is_32_bit(path) else _NUMBERS_64
    found = native.cfi_rows(str(path), section)
    return sorted(((begin, end, normal(rows, numbers)) for begin, end, rows in found), key=_key)


def theirs(path: Path) -> dict[str, Table]:
    """readelf's FDEs of both sections, without rows that begin where the FDE ends.

    Such rows cover nothing. The 32-bit C library's string functions have them: a macro says
    after each `ret` what holds behind it, and behind the last one is nothing.
    """
    tables: dict[str, Table] = {section: [] for section in SECTIONS}
    for fde in readelf_cfi.fdes(path):
        inside = [row for row in fde.rows if row.loc < fde.pc_end]
        tables[fde.section].append((fde.pc_begin, fde.pc_end, readelf_cfi.merged(inside)))
    return {section: sorted(table, key=_key) for section, table in tables.items()}


def _first_difference(rows: list[Row], other: list[Row]) -> str:
    """For the reader of a failure: where two lists of rows part."""
    for number, pair in enumerate(zip_longest(rows, other)):
        if pair[0] != pair[1]:
            return (
                f"row {number} of {len(rows)} and {len(other)}: ours {pair[0]}, readelf {pair[1]}"
            )
    return "same"


def check(path: Path) -> dict[str, int]:
    """Compare both sections of a file row by row; the number of FDEs by section."""
    expected = theirs(path)
    counts = {}
    for section in SECTIONS:
        found = ours(path, section)
        assert [entry[:2] for entry in found] == [entry[:2] for entry in expected[section]]
        differing = [
            f"{begin:x}..{end:x}: {_first_difference(rows, other)}"
            for (begin, end, rows), (_, _, other) in zip(found, expected[section])
            if rows != other
        ]
        assert not differing, f"{len(differing)} of {len(found)}:\n" + "\n".join(differing[:5])
        counts[section] = len(found)
        if found:
            rows = sum(len(entry[2]) for entry in found)
            print(f"\n{path.name} {section}: {len(found)} FDEs, {rows} rows", end="")
    return counts


def _of_gcc(name: str, *flags: str) -> Path:
    return Path(run(["gcc", *flags, f"-print-file-name={name}"]).strip()).resolve()


REAL: dict[str, tuple[Callable[[], Path], int]] = {
    "libc": (lambda: _of_gcc("libc.so.6"), 3000),
    "libstdc++": (lambda: _of_gcc("libstdc++.so.6"), 4000),
    "libm": (lambda: _of_gcc("libm.so.6"), 800),
    "python3": (lambda: Path("/usr/bin/python3").resolve(), 5000),
    "bash": (lambda: Path("/bin/bash").resolve(), 2000),
    "libc-i386": (lambda: _of_gcc("libc.so.6", "-m32"), 3000),
    "libstdc++-i386": (lambda: _of_gcc("libstdc++.so.6", "-m32"), 4000),
}


@pytest.mark.parametrize("name", REAL)
def test_files_of_the_distribution(name: str) -> None:
    find, least = REAL[name]
    path = find()
    assert path.is_file(), f"{path}: install gcc-multilib and lib32stdc++-12-dev"
    assert check(path)[EH] >= least


@pytest.mark.parametrize("variant", [pytest.param(each, id=each.name) for each in VARIANTS])
def test_what_compilers_write(variant: Variant, tmp_path: Path) -> None:
    program = compile_variant(variant, tmp_path)
    assert check(program)[variant.section] >= (8 if variant.language == "c" else 4)
    main = {name.name: name.address for name in nm_table.symbols(program)}["main"]
    assert main in {begin for begin, _, _ in ours(program, variant.section)}


@pytest.mark.parametrize("section", SECTIONS)
def test_hand_written_directives(section: str, tmp_path: Path) -> None:
    made = assemble(section, tmp_path)
    assert check(made)[section] == 5
    starts = {symbol.name: symbol.address for symbol in nm_table.symbols(made)}
    found = {begin: rows for begin, _, rows in native.cfi_rows(str(made), section)}
    literal = {
        name: [(row[0] - starts[name], row[1], dict(row[2])) for row in found[starts[name]]]
        for name in expected_hand_written()
    }
    assert literal == expected_hand_written()


def test_both_sections_in_one_file(tmp_path: Path) -> None:
    """`.cfi_sections .eh_frame, .debug_frame` writes everything twice; both read the same."""
    made = assemble(f"{EH}, {DEBUG}", tmp_path)
    assert check(made) == {EH: 5, DEBUG: 5}
    assert ours(made, EH) == ours(made, DEBUG)


def test_compressed_debug_frame(tmp_path: Path) -> None:
    made = assemble(DEBUG, tmp_path)
    plain = ours(made, DEBUG)
    for form in ("zlib", "zlib-gnu", "zstd"):
        packed = tmp_path / form
        command = ["objcopy", f"--compress-debug-sections={form}", str(made), str(packed)]
        subprocess.run(command, check=True)
        assert ours(packed, DEBUG) == plain, form


def test_a_changed_table_is_noticed(tmp_path: Path) -> None:
    """The comparison can fail: of two programs that differ in one byte of CFI, one is not equal."""
    made = assemble(EH, tmp_path)
    data = made.read_bytes()
    pushed = bytes([0x0E, 0x10])  # DW_CFA_def_cfa_offset: 16
    assert data.count(pushed) == 1
    made.write_bytes(data.replace(pushed, bytes([0x0E, 0x18])))
    with pytest.raises(AssertionError):
        literal = {begin: rows for begin, _, rows in native.cfi_rows(str(made))}
        starts = {symbol.name: symbol.address for symbol in nm_table.symbols(made)}
        assert literal[starts["everything"]][1][1] == "rsp+16"


def test_speed_is_told() -> None:
    """No threshold: it prints the rate at which rows reach Python."""
    path = _of_gcc("libstdc++.so.6")
    started = time.perf_counter()
    rows = sum(len(entry[2]) for entry in native.cfi_rows(str(path)))
    print(f"\n{path.name}: {rows / (time.perf_counter() - started):,.0f} rows/s", end="")
    assert rows > 10000

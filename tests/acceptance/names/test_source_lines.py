"""Source lines and inlined calls: of every form of DWARF, as gdb and addr2line tell them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acceptance.helpers.broken_files import SCRIPT
from acceptance.helpers.source_programs import (
    LAYOUTS,
    Chain,
    addr2line,
    gdb_lines,
    in_folders,
    inlined,
    run,
)
from whocall import open_symbols
from whocall.base.native_module import native

FORMS = [("gcc", version) for version in (2, 3, 4, 5)] + [("clang", v) for v in (2, 4, 5)]
UNMANGLED = ("operator()", "deep")
"""No mangled names in the debug info: addr2line says the name of the function around them."""


def starts(path: Path) -> dict[str, int]:
    """Link addresses of the functions in the symbol table."""
    return {symbol.name: symbol.start for symbol in open_symbols(str(path))}


def code(path: Path) -> list[int]:
    """Every address in the functions of the program itself."""
    table = open_symbols(str(path))
    ranges = [(each.start, each.end) for each in table if each.source == "symtab"]
    return sorted({at for begin, end in ranges for at in range(begin, end)})


def chains(path: Path, addresses: list[int], debug: str = "/usr/lib/debug") -> list[Chain]:
    """Ours, with the last part of each path; `debug` is the directory of debug files."""
    search = native.FileSearch()
    search.debug_directories = [debug]
    table = native.open_symbols(str(path), search)
    return [
        [(function, Path(file).name, line) for function, file, line in table.lines_at(address)]
        for address in addresses
    ]


def in_main(path: Path) -> list[int]:
    """Addresses all over main(), into which the calls are inlined."""
    (symbol,) = (each for each in open_symbols(str(path)) if each.name == "main")
    return list(range(symbol.start, symbol.end))


def test_paths_are_those_of_gdb(tmp_path: Path) -> None:
    """Wherever the compiler ran and however it was told of its files."""
    asked = []
    for number, (compiler, version) in enumerate(FORMS):
        for layout in LAYOUTS:
            made = in_folders(tmp_path / f"{number} {layout}".replace(" ", "-"), compiler, version,
                              layout)  # fmt: skip
            known = starts(made)
            asked.append((made, [known[name] for name in ("main", "here", "there", "up")]))
    theirs = gdb_lines(asked)
    ours = [open_symbols(str(path)).lines_at(at)[-1] for path, at_all in asked for at in at_all]
    assert [(file, line) for _, file, line in ours] == [(it.file, it.line) for it in theirs]
    assert len({file.rpartition("/")[2] for _, file, _ in ours}) == 4


@pytest.mark.parametrize(("compiler", "version"), FORMS)
def test_inlined_calls(compiler: str, version: int, tmp_path: Path) -> None:
    """Functions and calls at every address, deep nesting among them. Where rows of the line table
    share an address, gdb and addr2line choose differently: ours is one of both. DWARF 5 of clang is
    too much for addr2line 2.40, so there only gdb's lines are compared.
    """
    made = inlined(tmp_path, {"gcc": "g++", "clang": "clang++"}[compiler], f"-gdwarf-{version}")
    addresses = code(made)
    ours = chains(made, addresses)
    by_addr2line = addr2line(made, addresses)
    by_gdb = gdb_lines([(made, addresses)])
    assert max(map(len, ours)) >= 8
    compared = agreed = 0
    for own, other, line in zip(ours, by_addr2line, by_gdb):
        if not own or not own[0][2]:
            assert other[0][2] == 0, "a line that addr2line knows"
            continue
        innermost = {(Path(line.file).name, line.line), other[0][1:]}
        assert own[0][1:] in innermost
        compared += 1
        agreed += own[0][1:] == (Path(line.file).name, line.line)
        if (compiler, version) != ("clang", 5):
            assert [each[1:] for each in own[1:]] == [each[1:] for each in other[1:]]
            names = [(one[0], two[0]) for one, two in zip(own, other)]
            assert all(one in (two, *UNMANGLED) for one, two in names), names
    print(f"\n{compared} addresses, {agreed} as gdb has them", end="")
    assert compared > 400
    assert agreed >= 0.9 * compared


def compressed(how: str) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        other = path.with_name(f"compressed-{how}")
        run("objcopy", f"--compress-debug-sections={how}", path, other)
        assert other.stat().st_size < path.stat().st_size
        return other

    return make


def separate(path: Path) -> Path:
    """A stripped program, and its debug file beside it by debug link."""
    stripped = path.with_name("stripped")
    run("objcopy", "--only-keep-debug", path, path.with_name("stripped.debug"))
    run("objcopy", "--strip-debug", path, stripped)
    run("objcopy", "--add-gnu-debuglink=stripped.debug", stripped, cwd=path.parent)
    return stripped


@pytest.mark.parametrize(
    "change", [compressed("zlib"), compressed("zlib-gnu"), compressed("zstd"), separate],
    ids=["zlib", "zdebug", "zstd", "separate"],
)  # fmt: skip
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_other_containers(compiler: str, change: Callable[[Path], Path], tmp_path: Path) -> None:
    """The same debug info, packed or elsewhere, tells the same."""
    made = inlined(tmp_path, compiler, "-g")
    addresses = in_main(made)
    expected = chains(made, addresses)
    assert max(map(len, expected)) >= 5
    assert chains(change(made), addresses) == expected


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_split_debug_info(compiler: str, version: int, tmp_path: Path) -> None:
    """Half of it lies in a .dwo file: beside the program, or where the compiler ran. Without that
    file there are lines, and no functions.
    """
    whole = inlined(tmp_path / "whole", compiler, f"-gdwarf-{version}")
    split = inlined(tmp_path / "split", compiler, f"-gdwarf-{version}", "-gsplit-dwarf")
    expected = chains(whole, in_main(whole))
    assert chains(split, in_main(split)) == expected
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(split.parent, elsewhere)
    (dwo,) = split.parent.glob("*.dwo")
    dwo.unlink()
    assert chains(elsewhere / split.name, in_main(split)) == expected
    lines = [chain[0][1:] for chain in chains(split, in_main(split)) if chain]
    assert set(lines) <= {chain[0][1:] for chain in expected if chain}
    assert len(lines) > 100


def test_an_object_file(tmp_path: Path) -> None:
    """Before linking, what debug info refers to has to be put in first."""
    source = "static inline int f(int x) { return x * x; }\nint g(int c) { return f(c) + 1; }\n"
    made = tmp_path / "unit.o"
    for flags in (["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-gz"]):
        run("gcc", "-O2", *flags, "-c", "-x", "c", "-", "-o", made, cwd=tmp_path, text=source)
        lines = open_symbols(str(made)).lines_at(starts(made)["g"])
        assert lines[-1] == ("g", "<stdin>", 2)


def sampled(path: Path, count: int) -> list[int]:
    """Addresses in functions drawn from all that the file has."""
    chance = random.Random(path.name)
    drawn = chance.sample(list(open_symbols(str(path))), count)
    return [chance.randrange(each.start, each.end) for each in drawn]


def test_debug_files_of_the_system() -> None:
    """perl's and libc's: compressed, built in a relative directory, parts shared by dwz."""
    paths = [Path("/usr/bin/perl"), Path("/lib/x86_64-linux-gnu/libc.so.6").resolve()]
    asked = [(path, sampled(path, 300)) for path in paths]
    theirs = iter(gdb_lines(asked))
    for path, addresses in asked:
        table = open_symbols(str(path))
        found = [(table.lines_at(address), next(theirs)) for address in addresses]
        pairs = [(lines[0][1:], (it.file, it.line)) for lines, it in found if lines and it.line]
        print(f"\n{path}: {len(pairs)} lines", end="")
        assert len(pairs) > 200
        assert sum(own == other for own, other in pairs) >= 0.97 * len(pairs)
        # A function that gcc found to be the same as another one has a line, and no DIE.
        named = [all(function for function, _, _ in lines) for lines, _ in found if lines]
        assert sum(named) >= 0.97 * len(named)
        assert all(lines[0][0] for lines, _ in found if len(lines) > 1)


def test_shared_parts_are_found_by_build_id_only(tmp_path: Path) -> None:
    """Names of inlined functions lie in the file that dwz made; without it they have none."""
    perl = Path("/usr/bin/perl")
    addresses = sampled(perl, 300)
    named = [chain for chain in chains(perl, addresses) if len(chain) > 1]
    assert named
    link = next(Path("/usr/lib/debug/.build-id").glob(f"*/{_build_id(perl)[2:]}.debug"))
    damaged = tmp_path / ".build-id" / _build_id(perl)[:2] / link.name
    damaged.parent.mkdir(parents=True)
    data = link.read_bytes()
    name = b"/usr/lib/debug/.dwz/"
    assert data.count(name) == 1
    damaged.write_bytes(data.replace(name, name.replace(b"d", b"x")))
    alone = chains(perl, addresses, str(tmp_path))
    assert [[each[1:] for each in chain] for chain in alone] == [
        [each[1:] for each in chain] for chain in chains(perl, addresses)
    ]
    functions = {each[0] for chain in alone for each in chain}
    assert "" in functions
    assert functions <= {each[0] for chain in chains(perl, addresses) for each in chain} | {""}


def _build_id(path: Path) -> str:
    return open_symbols(str(path)).build_id


@pytest.fixture
def perl_core(tmp_path: Path) -> Iterator[Path]:
    """perl, deep in calls of its own sort()."""
    script = (
        "sub g { my $n = shift; kill ABRT => $$ if $n <= 0; my @x = sort { g($n - 1); 0 } 1, 2 }"
    )
    steps = ["set debuginfod enabled off", "run", f"generate-core-file {tmp_path / 'core'}"]
    words = [word for step in steps for word in ("-ex", step)]
    run("gdb", "-nx", "-q", "-batch", *words, "--args", "/usr/bin/perl", "-e", f"{script} g(60)")
    yield tmp_path / "core"


def test_lines_out_of_compressed_debug_info(perl_core: Path) -> None:
    """The whole backtrace with lines and inlined calls; what it costs beside eu-stack is a line of
    the benchmark.
    """
    text = run(sys.executable, SCRIPT, "bt", perl_core, "/usr/bin/perl")
    assert "at ./build-static/pp_sort.c:" in text
    assert text.count("inlined]") >= 3


def test_a_tree_that_leads_back_into_itself(tmp_path: Path) -> None:
    """Each block says that its own child is the next one beside it: followed both ways, fifty of
    them would be looked through a quadrillion times.
    """
    blocks = "".join(f"b{at}: .uleb128 2\n .long b{at + 1} - unit\n" for at in range(50))
    source = f"""
      .text
      .globl main
      main: ret
      end_of_code:
      .section .debug_abbrev,"",@progbits
      abbreviations: .byte 1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0
      .byte 2, 0x0b, 1, 0x01, 0x13, 0, 0, 0
      .section .debug_info,"",@progbits
      unit: .long end_of_unit - begin
      begin: .value 4
      .long abbreviations
      .byte 8
      .uleb128 1
      .quad main
      .long end_of_code - main
      {blocks}
      b50: .fill 52
      end_of_unit:
    """
    made = tmp_path / "program"
    run("gcc", "-x", "assembler", "-", "-o", made, text=source)
    table = f"whocall.open_symbols({str(made)!r})"
    asked = f"import whocall; print({table}.lines_at({starts(made)['main']}))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True,
                          check=True, timeout=30, env=os.environ)  # fmt: skip
    assert said.stdout == "[]\n"

"""Names from files that the user gives: every name is the twin's, and what does not fit lends none.

The oracle is nm on the unstripped file. Linker maps and lists of symbols are written by the
toolchain itself, the others by name_lists.py.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import name_lists
import name_twins
import pytest
from function_tables import make_unstripped
from oracles.tools import environment, run

from whocall import Search, open_process, open_symbols
from whocall.core.engine import native

SOURCE = r"""
#include <signal.h>
#include <stdio.h>
static int __attribute__((noinline))
depth(int left) { return left ? depth(left - 1) + 1 : raise(19); }
static int __attribute__((noinline)) middle(int left) { return depth(left) * 2; }
static int __attribute__((noinline)) by_pointer(int left) { return left * 3; }
int (*volatile pointer)(int) = by_pointer;
int exported(int left) { return middle(left) + pointer(left); }
int main(int count, char **words) { (void)words; return exported(count + 2) + 1; }
"""
LINKERS = ("bfd", "gold", "lld", "mold")
Writer = Callable[[Path], str]
PRINTED: dict[str, Writer] = {
    "nm": lambda twin: run(["nm", str(twin)]),
    "nm -n": lambda twin: run(["nm", "-n", str(twin)]),
    "nm -S": lambda twin: run(["nm", "-S", str(twin)]),
    "nm -l": lambda twin: run(["nm", "-l", str(twin)]),
    "nm -P": lambda twin: run(["nm", "-P", str(twin)]),
    "nm -f sysv": lambda twin: run(["nm", "-f", "sysv", str(twin)]),
    "objdump -t": lambda twin: run(["objdump", "-t", str(twin)]),
    "readelf -sW": lambda twin: run(["readelf", "-sW", str(twin)]),
    "Breakpad": name_lists.breakpad,
    "IDA": name_lists.ida_functions,
    "radare2": name_lists.radare,
    "radare2, addr": lambda twin: name_lists.radare(twin, "addr"),
    "JSON": name_lists.plain_json,
    "Ghidra, functions": lambda twin: name_lists.ghidra_functions(twin, 0),
    "Ghidra, symbols": lambda twin: name_lists.ghidra_symbols(twin, 0),
}


def search(*lists: str) -> Search:
    """Nothing but the lists."""
    return Search(debug_directories=[], symbol_files=lists)


def score(bare: Path, twin: Path, *lists: str) -> name_twins.Score:
    """How the names of the stripped file with the lists agree with the twin."""
    return name_twins.score(open_symbols(str(bare), search=search(*lists)), twin)


def remark(bare: Path, *lists: str) -> str:
    """What is said of lists that lend no names."""
    return native.FileNames(os.fsencode(bare), search=search(*lists).native()).remark


def written(path: Path, text: str) -> str:
    """The path of a file with this text."""
    path.write_text(text)
    return str(path)


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    """A small position-independent program with local functions."""
    return name_twins.build(tmp_path, source=SOURCE)


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
    """Every name is the twin's, whatever the form."""
    twin = tmp_path / "twin"
    for path in unstripped:
        twin.write_bytes(path.read_bytes())
        bare = name_twins.stripped(twin)
        for form in ("nm", "nm -S", "readelf -sW", "JSON"):
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


def test_another_base_is_named_and_not_guessed(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "ghidra.csv", name_lists.ghidra_functions(twin))
    assert not score(bare, twin, listed).by_source
    assert f"give it as {listed}@0x100000." in remark(bare, listed)
    for base in ("@100000", "@0x100000"):
        found = score(bare, twin, listed + base)
        assert not found.contradictions
        assert found.by_source["symbol-file"] >= 8
        assert remark(bare, listed + base) == ""
    assert "lends no names" in remark(bare, listed + "@200000")
    below = "".join(
        f"{each.address + 0x5000:x} T {each.name}\n" for each in name_lists.functions_of(twin)
    )
    moved = written(tmp_path / "moved", below)
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    fixed_twin = name_twins.build(fixed, "-no-pie", source=SOURCE)
    low = "".join(
        f"{each.address - 0x400000:x} T {each.name}\n"
        for each in name_lists.functions_of(fixed_twin)
    )
    at_zero = written(tmp_path / "zero", low)
    assert f"{moved}@0x5000." in remark(bare, moved)
    fixed_bare = name_twins.stripped(fixed_twin)
    assert f"{at_zero}@-0x400000." in remark(fixed_bare, at_zero)
    assert score(fixed_bare, fixed_twin, f"{at_zero}@-400000").by_source["symbol-file"] >= 8


@pytest.mark.parametrize("form", ["nm", "nm -S", "Breakpad", "IDA", "JSON", "map"])
def test_another_build_lends_no_names(form: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    more = SOURCE + 'int more(int a) { return exported(a) ? printf("%d", a) : a * 77; }\n'
    link = tmp_path / "map"
    twin = name_twins.build(tmp_path, source=SOURCE)
    foreign = name_twins.build(other, "-O3", f"-Wl,-Map={link}", source=more + SOURCE_OF_MANY)
    text = link.read_text() if form == "map" else PRINTED[form](foreign)
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "list", text)
    assert not score(bare, twin, listed).by_source
    said = remark(bare, listed)
    assert "lends no names" in said, said
    assert listed in said


SOURCE_OF_MANY = "".join(
    f"int f{at}(int a) {{ return exported(a) * {at} + pointer(a) {'* a' * at}; }}\n"
    for at in range(40)
)


def stopped(program: Path, *lists: str) -> tuple[list[str], list[str], list[str]]:
    """Warnings, names in the program and remarks on modules of one that stops itself."""
    from whocall.report.tables.modules import all_facts

    with subprocess.Popen([program]) as process:
        try:
            os.waitpid(process.pid, os.WUNTRACED)
            with open_process(process.pid, search=search(*lists)) as image:
                facts = all_facts(image)
                crash = image.backtrace(image.index_of_crash())
                named = [f.function for f in crash.frames if f.name_source == "symbol-file"]
                return image.warnings, [str(name) for name in named], [f.trouble for f in facts]
        finally:
            process.kill()


def test_which_module_a_list_is_for(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin, "prog")
    text = run(["nm", "-n", str(twin)])
    chain = ["depth"] * 4 + ["middle", "exported", "main"]
    for given in ("whatever", "prog.map", "prog=other", f"{bare}=other", "other"):
        listed = written(tmp_path / given.rpartition("=")[2].rpartition("/")[2], text)
        module = given.rpartition("=")[0]
        warnings, named, _ = stopped(bare, f"{module}={listed}" if module else listed)
        assert named == chain, given
        assert not warnings
    for given, words in {
        "libc.so.6=other": ["other", "libc.so.6", "lends no names"],
        "libq.so=other": ["libq.so", "whocall modules"],
        "libq.so.1.map": ["libq.so.1.map", "for no module"],
        "nowhere": ["nowhere", "cannot be opened"],
    }.items():
        module, _, name = given.rpartition("=")
        listed = str(tmp_path / name)
        if name != "nowhere":
            written(tmp_path / name, text)
        warnings, named, troubles = stopped(bare, f"{module}={listed}" if module else listed)
        assert named == [], given
        assert len(warnings) == 1
        assert all(word in warnings[0] for word in words), warnings
        assert given != "libc.so.6=other" or warnings[0] in troubles


def test_breakpad_knows_its_module(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin, "prog")
    text = name_lists.breakpad(twin)
    right = written(tmp_path / "any.sym", text)
    warnings, named, _ = stopped(bare, right)
    assert named[-1] == "main"
    assert not warnings
    own = name_lists.breakpad_id(name_lists.build_id(twin))
    wrong = written(tmp_path / "wrong.sym", text.replace(own, own[::-1]).replace("twin", "prog"))
    warnings, named, troubles = stopped(bare, wrong)
    assert named == []
    assert len(warnings) == 1
    assert own in warnings[0]
    assert own[::-1] in warnings[0]
    assert warnings[0] in troubles


def test_paths_with_signs(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    for name in ("a=b@10", "c@beef", "d=e", "f g@"):
        listed = written(tmp_path / name, run(["nm", str(twin)]))
        assert score(bare, twin, listed).by_source, name
        assert score(bare, twin, f"bare={listed}").by_source, name
        assert not score(bare, twin, f"other={listed}").by_source, name


BAD: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n \n\t\n",
    "nul": bytes(100),
    "utf-16": "0000000000001136 T main\n".encode("utf-16"),
    "prose": b"Dear reader,\nno names here.\n",
    "elf": b"\x7fELF" + bytes(60),
    "gzip": b"\x1f\x8b\x08" + bytes(60),
    "json cut": b'{"functions": [{"name": "mai',
    "json deep": b"[" * 100000,
    "json bad utf-8": b'[{"name": "\xff\xfe", "start": 4406}]',
    "jitdump": b"DTiJ" + bytes(60),
}


@pytest.mark.parametrize("kind", BAD)
def test_files_that_are_no_lists(kind: str, twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    path = tmp_path / "given"
    path.write_bytes(BAD[kind])
    said = remark(bare, str(path))
    assert said.startswith(f"{path} ")
    assert said.endswith(".")
    assert said.count(". ") >= 1  # what to do
    assert not score(bare, twin, str(path)).by_source


def test_what_is_no_file(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, tmp_path / "absent", Path("/dev/null")):
        assert remark(bare, str(path)).startswith(f"{path} ")


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


def mutated(text: bytes, chance: random.Random) -> bytes:
    """Bytes replaced, doubled, cut out, cut off."""
    data = bytearray(text)
    for _ in range(chance.randrange(1, 30)):
        at = chance.randrange(max(len(data), 1))
        kind = chance.randrange(5)
        if kind == 0 and data:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at:at] = data[at : at + chance.randrange(200)]
        elif kind == 2:
            del data[at : at + chance.randrange(100)]
        elif kind == 3:
            data[at : at + 1] = chance.choice(
                [b"\0", b"\n", b'"', b"{", b"0xffffffffffffffff", b"f" * 40, b"\t", b"|", b"-1"]
            )
        elif len(data) > 100 and chance.randrange(8) == 0:
            del data[at + 50 :]
    return bytes(data)


@pytest.mark.parametrize("form", [*PRINTED, "map bfd", "map lld"])
def test_damaged_lists_do_no_harm(form: str, tmp_path: Path) -> None:
    """Neither crashes nor names that stand nowhere in the list."""
    link = tmp_path / "map"
    linker = form.partition(" ")[2] if form.startswith("map") else "bfd"
    twin = name_twins.build(
        tmp_path, f"-Wl,-Map={link}", f"-fuse-ld={linker}", "-ffunction-sections", source=SOURCE
    )
    bare = name_twins.stripped(twin)
    text = link.read_bytes() if form.startswith("map") else PRINTED[form](twin).encode()
    path = tmp_path / "list"
    chance = random.Random(form)
    for _ in range(40):
        path.write_bytes(mutated(text, chance))
        table = open_symbols(str(bare), search=search(str(path)))
        for at in range(len(table)):
            assert table[at].end >= table[at].start


def test_a_list_of_a_million_names(tmp_path: Path) -> None:
    """Stays linear: most names are elsewhere, and one line is very long."""
    twin = name_twins.build(tmp_path, source=SOURCE)
    bare = name_twins.stripped(twin)
    text = run(["nm", str(twin)])
    many = "".join(f"{at:016x} T f{at}\n" for at in range(0x10000000, 0x10000000 + (16 << 20), 16))
    path = tmp_path / "list"
    path.write_text(text + many + "0000000000001139 T " + "x" * 5_000_000)
    assert not score(bare, twin, str(path)).contradictions[1:]


def test_command_line(twin: Path, tmp_path: Path) -> None:
    """`--symbols` names functions; what lends no names is a warning, not an error."""
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "list", run(["nm", str(twin)]))
    entry = Path(__file__).parents[2] / "gdbext" / "whocall.py"
    command = ["/usr/bin/env", "python3", str(entry), "functions", str(bare), "^depth$"]
    done = subprocess.run(
        [*command, "--symbols", listed, "--symbols", "/nowhere"],
        capture_output=True, text=True, check=True, env=environment(),
    )  # fmt: skip
    assert " symbol-file depth" in done.stdout
    assert done.stderr.startswith("warning: /nowhere cannot be opened")

"""Names and unwind tables that JIT compilers register for debuggers, live and of cores.

The oracles are the program itself, which knows what it put where (jit_object_program.c), and gdb,
which follows the same list.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from corpus.crash import crash
from guards import guarded
from oracles.tools import run
from places.needs import ATTACHING, require

from acceptance.helpers.stopped_processes import stopped
from whocall import ProcessImage, Search, Walk, open_core, open_process

HERE = Path(__file__).parent
ENTRY = Path(__file__).parents[3] / "gdbext" / "whocall.py"
NOWHERE = Search(debug_directories=[])
CHAIN = ["stop", "inner", "deep", "deep", "deep", "outer", "main"]
FORMS = ["RELOCATED", "LEFT", "LOADED"]
CODE_FLAGS = [
    "-O2",
    "-fomit-frame-pointer",
    "-fno-ipa-cp",
    "-fno-inline",
    "-fno-optimize-sibling-calls",
    "-fcf-protection=none",
]
HOSTILE = {
    1: "runs in a circle",
    2: "1 cannot be as large as listed",
    3: "1 cannot be read from memory",
    4: "1 tell of no code of this machine",
    5: "has version 2, not 1",
    6: "cannot be read at 0x10",
    7: "cannot be read at 0xfffffffffffffff8",
    8: "1 have a form of their own",
    9: "1 tell of no code of this machine",
    10: "has more than 65536 entries",
    11: "cannot be as large as listed",
    12: "",
    13: "",
}
LENDS_STILL = (1, 6, 11, 12)  # of the hostile lists: what is wrong stands behind what is needed


@pytest.fixture(scope="module", name="code")
def fixture_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the compiler in the program "compiles"."""
    made = tmp_path_factory.mktemp("code") / "code.o"
    run(["gcc", *CODE_FLAGS, "-c", str(HERE / "jit_object_code.c"), "-o", str(made)])
    return made


def build(directory: Path, code: Path, *flags: str) -> Path:
    """The program, with its own symbols."""
    program = directory / "program"
    source = str(HERE / "jit_object_program.c")
    run(["gcc", "-O1", f'-DCODE="{code}"', *flags, source, "-o", str(program)])
    return program


def chain(image: ProcessImage) -> list[tuple[str | None, str | None, str]]:
    """(function, source of the name, trust) from the crash or stop to main."""
    frames = image.backtrace(image.index_of_crash()).frames
    found = [(frame.function, frame.name_source, str(frame.trust)) for frame in frames]
    begin = next(at for at, each in enumerate(found) if each[0] == "stop")
    end = next((at for at, each in enumerate(found) if each[0] == "main"), len(found) - 1)
    return found[begin : end + 1]


def expect_told(image: ProcessImage) -> None:
    """All of the chain, by the registered file."""
    found = chain(image)
    assert [name for name, _, _ in found] == CHAIN
    assert {source for _, source, _ in found[1:-1]} == {"jit-object"}
    assert {trust for _, _, trust in found[1:]} == {"cfi"}
    assert image.warnings == []
    frame = next(f for f in image.backtrace(0).frames if f.function == "inner")
    assert frame.module is None
    assert frame.offset == 0xE


@pytest.mark.parametrize("form", FORMS)
def test_registered_code(tmp_path: Path, code: Path, form: str) -> None:
    core = crash(build(tmp_path, code, f"-D{form}", "-DCRASH"), tmp_path).core
    with open_core(str(core), search=NOWHERE) as image:
        expect_told(image)
    live = stopped(build(tmp_path, code, f"-D{form}"), tmp_path)
    with live as pid, open_process(pid, search=NOWHERE) as image:
        expect_told(image)


def test_code_in_a_mapping_with_a_name(tmp_path: Path, code: Path) -> None:
    """The file is gone; its code has rows and names of the registered object, not of a list."""
    core = crash(build(tmp_path, code, "-DRELOCATED", "-DCRASH", "-DNAMED"), tmp_path).core
    for each in tmp_path.rglob("jit-cache"):
        each.unlink()
    with open_core(str(core), search=NOWHERE) as image:
        assert [name for name, _, _ in chain(image)] == CHAIN
        frames = image.report(walk=Walk(explain=True)).threads[0].frames
        said = [each.explanation or "" for each in frames if each.trust == "cfi"]
        assert sum("row of [JIT object at" in each for each in said) >= len(CHAIN) - 2, said
        assert not any("symbol file" in each for each in said), said


def test_stripped_program_that_exports_the_list(tmp_path: Path, code: Path) -> None:
    program = build(tmp_path, code, "-DLEFT", "-DCRASH", "-rdynamic", "-s")
    core = crash(program, tmp_path).core
    with open_core(str(core), search=NOWHERE) as image:
        found = [(f.function, str(f.trust)) for f in image.backtrace(0).frames]
        assert [name for name, _ in found[1:6]] == CHAIN[1:6]
        assert {trust for _, trust in found[1:7]} == {"cfi"}


def test_stripped_program_without_the_symbol(tmp_path: Path, code: Path) -> None:
    """Nothing tells where the list is: no names, and no word about it."""
    core = crash(build(tmp_path, code, "-DLEFT", "-DCRASH", "-s"), tmp_path).core
    with open_core(str(core), search=NOWHERE) as image:
        frames = image.backtrace(0).frames
        assert all(frame.name_source != "jit-object" for frame in frames)
        assert image.warnings == []


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_lists(tmp_path: Path, code: Path, how: int) -> None:
    """A sentence or silence, soon, and the program's own frames as ever."""
    core = crash(build(tmp_path, code, "-DLEFT", f"-DHOSTILE={how}", "-DCRASH"), tmp_path).core
    with guarded(), open_core(str(core), search=NOWHERE) as image:
        found = chain(image)
        assert found[0][0] == "stop"
        assert HOSTILE[how] in " ".join(image.warnings)
        named = [name for name, source, _ in found if source == "jit-object"]
        assert named == (CHAIN[1:6] if how in LENDS_STILL else [])


def test_lists_of_commands(tmp_path: Path, code: Path) -> None:
    """`modules` tells that there is such code, `functions` lists it."""
    core = crash(build(tmp_path, code, "-DLEFT", "-DCRASH"), tmp_path).core

    def said(*words: str) -> str:
        return run([sys.executable, str(ENTRY), *words])

    table = said("modules", str(core))
    assert "JIT code: 1 ELF file in memory, 3 functions" in table
    (found,) = json.loads(said("modules", "--json", str(core)))["jit_objects"]
    assert found["functions"] == 3
    assert found["name"].startswith("[JIT object at 0x")
    with open_core(str(core), search=NOWHERE) as image:
        start = image.backtrace(0).frames[1].pc - 0xE
        assert int(found["begin"], 16) == start
        names = [row[2] for row in image.native.jit_functions()]
        assert names == ["inner", "deep", "outer"]
        place = image.native.describe(start + 14)
        assert (place.function, place.module) == ("inner", None)


def frames_of_gdb(*words: str) -> list[str]:
    """The functions of gdb's own backtrace."""
    said = run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", *words, "-ex", "bt"])
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+)", said, re.MULTILINE)


IR = """
declare i32 @raise(i32)
define i32 @deep(i32 %n) noinline uwtable {
  %room = alloca [40 x i8]
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = call i32 @middle(i32 %m)
  %s = add i32 %r, 1
  ret i32 %s
end:
  %x = call i32 @raise(i32 19)
  ret i32 0
}
define i32 @middle(i32 %n) noinline uwtable {
  %r = call i32 @deep(i32 %n)
  %s = mul i32 %r, 3
  ret i32 %s
}
define i32 @main() uwtable {
  %r = call i32 @deep(i32 3)
  ret i32 %r
}
"""
COMPILED = ["deep", "middle", "deep", "middle", "deep", "middle", "deep", "main"]


@pytest.mark.parametrize("kind", ["mcjit", "orc"])
def test_llvm(tmp_path: Path, kind: str) -> None:
    """As gdb names it; the process has stopped itself in the code's raise."""
    program = tmp_path / "program.ll"
    program.write_text(IR)
    with subprocess.Popen(["lli", f"-jit-kind={kind}", str(program)]) as process:
        try:
            os.waitpid(process.pid, os.WUNTRACED)
            with open_process(process.pid, search=NOWHERE) as image:
                frames = image.backtrace(0).frames
                assert image.warnings == []
            require(ATTACHING)
            gdbs = frames_of_gdb("-p", str(process.pid))
        finally:
            process.kill()
    names = [frame.function for frame in frames]
    begin = names.index("deep")
    end = begin + len(COMPILED)
    assert names[begin:end] == COMPILED
    assert {frame.name_source for frame in frames[begin:end]} == {"jit-object"}
    assert {str(frame.trust) for frame in frames[begin : end + 1]} == {"cfi"}
    at = gdbs.index("deep")
    assert gdbs[at : at + len(COMPILED)] == COMPILED

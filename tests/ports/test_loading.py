"""Cores as qemu-user writes them: no NT_FILE, and no page of code, where headers often lie too.

x86-64 guests show it as well, once they are linked as other machines' programs are: headers and
code in one segment.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpus.crash import set_limits
from oracles.tools import run
from places.needs import OWN_CORES, require

import whocall
from ports import ROOT
from whocall.base.file_search import Search

LIBRARY = """
int inner(int *p) { return *(volatile int *)p; }
int outer(int *p, int (*f)(int *)) { return f(p) + 1; }
"""
PROGRAM = """
int outer(int *, int (*)(int *)); int inner(int *);
int main(void) { return outer((int *)8, inner) + 3; }
"""
FLAGS = ("-O1", "-Wl,-z,noseparate-code", "-Wl,-rpath,$ORIGIN")


def compiled(place: Path, name: str, text: str, *flags: str) -> Path:
    """A stripped program or library of such a layout."""
    source = place / f"{name}.c"
    source.write_text(text)
    command = ["gcc", *FLAGS, str(source), *flags, "-s", "-o", name]
    subprocess.run(command, cwd=place, check=True)
    return place / name


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """The core; the program and its library lie beside it."""
    require(OWN_CORES)
    compiled(tmp_path, "libdeep.so", LIBRARY, "-shared", "-fPIC")
    compiled(tmp_path, "prog", PROGRAM, "./libdeep.so")
    subprocess.run(
        ["qemu-x86_64", "-s", "262144", str(tmp_path / "prog")],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        check=False,
        preexec_fn=lambda: set_limits(dumped=0),
    )
    (core,) = tmp_path.glob("qemu_prog_*.core")
    return core


def functions(core: Path, exe: str = "", search: Search = Search()) -> list[tuple[str, str]]:
    """Function and trust of each frame up to main."""
    with whocall.open_core(str(core), exe, search=search) as image:
        frames = image.backtrace(image.index_of_crash()).frames
        return [((frame.function or "??").rstrip("?"), frame.trust) for frame in frames]


TRUE = [("inner", "context"), ("outer", "cfi"), ("main", "cfi")]


def test_the_programs_file_leads_to_its_libraries(crashed: Path) -> None:
    """The headers lie on a page that was not dumped; the file lends them."""
    assert functions(crashed) == TRUE
    with whocall.open_core(str(crashed)) as image:
        names = [Path(module.path).name for module in image.modules]
        assert sorted(names) == ["ld-linux-x86-64.so.2", "libc.so.6", "libdeep.so", "prog"]
        assert all(module.state == "found" for module in image.modules)
        assert not image.warnings


def test_libraries_are_found_beside_the_program_that_is_given(crashed: Path) -> None:
    """And by --search, and not at all where nobody says where they are."""
    elsewhere = crashed.parent / "home"
    elsewhere.mkdir()
    for name in ("prog", "libdeep.so"):
        (crashed.parent / name).rename(elsewhere / name)
    assert functions(crashed, str(elsewhere / "prog")) == TRUE
    other = crashed.parent / "libs"
    other.mkdir()
    (elsewhere / "libdeep.so").rename(other / "libdeep.so")
    assert functions(crashed, str(elsewhere / "prog")) != TRUE
    found = functions(crashed, str(elsewhere / "prog"), Search(directories=[str(other)]))
    assert found == TRUE


def test_a_missing_program_is_told(crashed: Path) -> None:
    """With what to do about it."""
    (crashed.parent / "prog").unlink()
    with whocall.open_core(str(crashed)) as image:
        (warning,) = image.warnings
    assert "Give the program after the core" in warning
    assert "--sysroot" in warning


def test_another_program_or_library_does_not_fit(crashed: Path) -> None:
    """Code that has grown over what was mapped; a library whose dynamic table lies elsewhere."""
    place = crashed.parent
    shutil.copy(place / "prog", place / "kept")
    grown = PROGRAM + "int more[3000] = {1}; const int most[9000] = {1};"
    compiled(place, "prog", grown, "./libdeep.so")
    with whocall.open_core(str(crashed), str(place / "prog")) as image:
        assert any("does not fit" in warning for warning in image.warnings)
    (place / "kept").rename(place / "prog")
    compiled(place, "libdeep.so", LIBRARY + "const int most[9000] = {1};", "-shared", "-fPIC")
    with whocall.open_core(str(crashed), str(place / "prog")) as image:
        (deep,) = [module for module in image.modules if module.path.endswith("libdeep.so")]
        assert deep.state == "MISMATCH"


def test_gdb_multiarch_does_not_relocate_it_but_repair_does(crashed: Path) -> None:
    """gdb takes the program to lie where it was linked, for the core tells it nothing else."""
    entry = ROOT / "gdbext" / "whocall.py"
    commands = ["bt", "echo ---\\n", f"source {entry}", "whocall repair", "echo ---\\n", "bt"]
    words = [word for command in commands for word in ("-ex", command)]
    program = str(crashed.parent / "prog")
    said = run(["gdb-multiarch", "-nx", "-q", "-batch", *words, program, "-c", str(crashed)])
    before, _, after = said.split("---\n")
    assert "main" not in before and "inner" not in before
    lines = [line for line in after.splitlines() if line.startswith("#")]
    assert " in inner (" in lines[0]
    assert " in outer (" in lines[1]
    assert " in main (" in lines[2]
    assert len(lines) == 3  # as gdb goes no further than main, which it knows now

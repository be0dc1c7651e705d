"""Names that a stripped program gets from another, unstripped build of it. The oracle is nm on the
unstripped twin.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers.name_twins import debug_file, stripped
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.name_files import build_programs as programs
from acceptance.name_files.signature_programs import Tally, found_names, true_names
from whocall.base.native_module import native
from whocall.cli import main as cli

TITLE = "functions of stripped programs by an unstripped other build"
CHANGED = range(7, programs.FUNCTIONS, 15)


def learned(build: Path) -> Path:
    """A file of signatures of a build."""
    file = build.with_name(build.name + ".sig")
    assert cli.main(["signatures", str(build), "-o", str(file)]) == 0
    return file


@pytest.fixture(scope="module", name="known")
def known_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build that has names, with its signatures beside it."""
    file = programs.build(tmp_path_factory.mktemp("known"), "shop-1", programs.source(), "-O2")
    learned(file)
    return file


def signatures_of(build: Path) -> Path:
    """Those that `known_build` made."""
    return build.with_name(build.name + ".sig")


@pytest.mark.parametrize(
    ("what", "least", "flags"),
    [
        ("the same", 0.99, "-O2"),
        ("changed", 0.9, "-O2"),
        ("at fixed addresses", 0.9, "-O2 -no-pie"),
        ("another level", 0.0, "-O1"),
        ("not at all alike", 0.0, "-O0"),
    ],
)
def test_the_next_build(
    what: str, least: float, flags: str, known: Path, tmp_path: Path, scoreboard: Scoreboard
) -> None:
    text = programs.source() if what == "the same" else programs.source(CHANGED, added=5)
    signatures = signatures_of(known)
    if "-no-pie" in flags:
        before = programs.build(tmp_path, "before", programs.source(), *flags.split())
        signatures = learned(before)
    twin = programs.build(tmp_path, "shop-2", text, *flags.split())
    tally = programs.judge(twin, signatures)
    table = scoreboard.table(TITLE, "build", "functions", "named %", "wrong")
    table.rows.append((what, tally.all, 100 * tally.share, len(tally.wrong)))
    assert not tally.wrong
    assert tally.all >= programs.FUNCTIONS
    assert tally.share >= least


def test_another_compiler_gives_no_wrong_name(known: Path, tmp_path: Path) -> None:
    twin = programs.build(tmp_path, "shop", programs.source(), "-O2", compiler="clang")
    assert not programs.judge(twin, signatures_of(known)).wrong


def test_functions_that_became_something_else(known: Path, tmp_path: Path) -> None:
    """Those are little code now, and all alike: no name of another."""
    twin = programs.build(
        tmp_path, "shop", programs.source(absent=range(3, programs.FUNCTIONS, 9)), "-O2"
    )
    tally = programs.judge(twin, signatures_of(known))
    assert not tally.wrong
    assert tally.share >= 0.7


def test_a_shared_library_has_its_exports_to_begin_with(tmp_path: Path) -> None:
    def library(name: str, text: str) -> Path:
        exported = text.replace(f"{programs.LINKAGE} long part_1(", "long part_1(")
        flags = ("-O2", "-fPIC", "-shared", "-Wl,-soname,libshop.so.1")
        return programs.build(tmp_path, name, exported, *flags)

    signatures = learned(library("libshop-1.so", programs.source()))
    tally = programs.judge(library("libshop-2.so", programs.source(CHANGED)), signatures)
    assert not tally.wrong
    assert tally.share >= 0.9
    other = programs.build(
        tmp_path, "libother.so", programs.source(),
        "-O2", "-fPIC", "-shared", "-Wl,-soname,libother.so.1",
    )  # fmt: skip
    assert not found_names(stripped(other, "other.bare"), [signatures])


def test_names_in_a_debug_file_beside_the_program(known: Path, tmp_path: Path) -> None:
    bare = tmp_path / "shop"
    run(["strip", "-o", str(bare), str(known)])
    with pytest.raises(native.Error, match="names none of its functions"):
        native.build_signatures([str(bare)])
    debug = debug_file(known, tmp_path / "shop.debug")
    run(["objcopy", f"--add-gnu-debuglink={debug}", str(bare)])
    contents, summary, remarks = native.build_signatures([str(bare)])
    assert (summary["builds"], summary["members"], remarks) == (1, 0, [])
    assert summary["functions"] >= programs.FUNCTIONS
    assert b"part_17\0" in contents


def test_the_proof_names_the_build(
    known: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    twin = programs.build(tmp_path, "shop-2", programs.source(CHANGED), "-O2")
    bare = stripped(twin)
    names = {name: at for at, all_names in true_names(twin).items() for name in all_names}
    sources = ["--signatures", str(signatures_of(known))]

    def said_of(number: int) -> str:
        place = hex(names[f"part_{number}"])
        assert cli.main(["symbol", str(bare), place, *sources]) == 0
        return " ".join(capfd.readouterr().out.split())

    build_id = re.search(r"Build ID: (\w+)", run(["readelf", "-n", str(known)]))
    assert build_id
    origin = f"another build, shop-1, build id {build_id[1]}"
    same = said_of(10)
    assert f"part_10? (+0) in {bare.name}" in same
    assert f"named by the same code in {origin}" in same
    assert "the nearest symbol" not in same
    changed = {number: said_of(number) for number in CHANGED}
    named = [said for number, said in changed.items() if f"part_{number}? (+0)" in said]
    assert len(named) >= len(CHANGED) / 2  # the rest changed too much in this compiler's hands
    for said in named:
        assert re.search(
            f"named by (its place|what refers to it) and code much like it in {origin}", said
        )
        assert "the nearest symbol" not in said


def test_libraries_and_builds_in_one_file(known: Path, tmp_path: Path) -> None:
    text = "int twice(int n) { return n * 2; }"
    single = programs.build(tmp_path, "one.o", text, "-O2", "-c")
    contents, summary, _ = native.build_signatures([str(single), str(known)])
    assert (summary["members"], summary["builds"]) == (1, 1)
    file = tmp_path / "both.sig"
    file.write_bytes(contents)
    assert native.signature_summary(str(file)) == summary
    run(["ar", "rcs", str(tmp_path / "one.a"), str(single)])
    assert native.build_signatures([str(tmp_path / "one.a")])[1]["members"] == 1
    twin = shutil.copy(known, tmp_path / "twin")
    assert programs.judge(Path(twin), file).share >= 0.99


HOSTILE = r"""
#include <stdio.h>
#define OWN static __attribute__((noinline, noclone, used))
int cell_a, cell_b; volatile int seen;
%s
int main(int n, char **w) { (void)w; return use(n) + n; }
"""
BODY = (
    "{ seen += n * 3; seen ^= %s; seen -= n << 5; seen |= 0x%x; return n * seen + 77 / (n | 1); }"
)


def function(name: str, body: str) -> str:
    """One more function of the hostile programs."""
    return f"OWN int {name}(int n) {body}"


def alike(cell: str) -> str:
    """Functions of this body differ in nothing but the address of the cell."""
    return BODY % (cell, 0x1234)


USE = "OWN int use(int n) { return %s(n) + 3 * %s(n + 1); }"
FIRST = function("on_a", alike("cell_a"))
SECOND = function("on_b", alike("cell_b"))
OTHER = function("other", BODY % ("n", 0x4321))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # They have changed places.
        ([FIRST, SECOND, USE % ("on_a", "on_b")], [SECOND, FIRST, USE % ("on_a", "on_b")]),
        # One is gone, or has come.
        (
            [FIRST, SECOND, OTHER, USE % ("on_a", "on_b")],
            [SECOND, OTHER, USE % ("on_b", "other")],
        ),
        (
            [SECOND, OTHER, USE % ("on_b", "other")],
            [FIRST, SECOND, OTHER, USE % ("on_a", "on_b")],
        ),
        ([FIRST, SECOND, USE % ("on_a", "on_b")], [SECOND, USE % ("on_b", "on_b")]),
        # What is called now is the other one, which was there before.
        ([FIRST, SECOND, USE % ("on_a", "on_a")], [FIRST, SECOND, USE % ("on_b", "on_b")]),
        ([SECOND, FIRST, USE % ("on_a", "on_a")], [SECOND, FIRST, USE % ("on_b", "on_b")]),
        # The one has the code of the other now.
        (
            [FIRST, OTHER, USE % ("on_a", "other")],
            [
                function("on_a", BODY % ("n", 0x4321)),
                function("other", alike("cell_a")),
                USE % ("on_a", "other"),
            ],
        ),
    ],
)
@pytest.mark.parametrize("flags", ["-O2", "-O1 -no-pie"])
def test_functions_that_only_linking_tells_apart(
    before: list[str], after: list[str], flags: str, tmp_path: Path
) -> None:
    old = programs.build(tmp_path, "old", HOSTILE % "\n".join(before), *flags.split())
    new = programs.build(tmp_path, "new", HOSTILE % "\n".join(after), *flags.split())
    tally: Tally = programs.judge(new, learned(old))
    assert not tally.wrong

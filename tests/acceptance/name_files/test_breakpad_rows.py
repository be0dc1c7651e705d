"""Programs that nobody has: their frames by Breakpad's symbol file. What is true is what is found
with the program.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from acceptance.helpers.twin_crashes import TwinCrash, build
from acceptance.name_files.breakpad_rows import symbol_file
from whocall import Frame, Search, Walk, open_core
from whocall.report.tables.modules import all_facts

SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
OUT_OF_LINE int fail(volatile int *at) { return *at + 1; }
OUT_OF_LINE int deep(int n, volatile int *at) {
  char b[40];
  memset(b, n, sizeof b);
  return n > 0 ? deep(n - 1, at) + b[n] : fail(at) + b[1];
}
static int compare(const void *a, const void *b) { return deep(3, 0) + *(int *)a - *(int *)b; }
OUT_OF_LINE int sorts(int n) {
  int v[4] = {4, 3, 2, n};
  qsort(v, 4, sizeof *v, compare);
  return v[0];
}
int main(int argc, char **argv) { return sorts(argc) + 1; }
"""
CHAIN = ["fail", *["deep"] * 4, "compare", "sorts", "main"]
FIXED = 0x400000
FLAGS = ["-O1", "-fno-optimize-sibling-calls"]


def _frames(built: TwinCrash, *lists: Path) -> list[Frame]:
    search = Search(symbol_files=[str(each) for each in lists])
    with open_core(str(built.core), search=search) as image:
        return list(image.report(walk=Walk(explain=True)).threads[0].frames)


def _own(frames: list[Frame], built: TwinCrash) -> list[Frame]:
    return [frame for frame in frames if frame.module == str(built.exe)]


def _lost(place: Path, *flags: str) -> tuple[TwinCrash, list[int]]:
    """A crash whose program is gone, and the pcs that were found with it."""
    built = build(SOURCE, place, [*FLAGS, *flags])
    whole = [frame.pc for frame in _frames(built)]
    built.exe.unlink()
    return built, whole


@pytest.mark.parametrize("kind", ["pie", "no-pie"])
def test_rows_and_names_of_a_program_that_nobody_has(kind: str, tmp_path: Path) -> None:
    built, whole = _lost(tmp_path, f"-{kind}")
    listed = tmp_path / "program.sym"
    listed.write_text(symbol_file(built.twin, "program", low=FIXED if kind == "no-pie" else 0))
    without = _frames(built)
    assert {"scan", "frame-pointer"} & {str(frame.trust) for frame in without}
    frames = _frames(built, listed)
    assert [frame.pc for frame in frames] == whole
    own = _own(frames, built)
    assert [frame.function for frame in own] == CHAIN
    assert {str(frame.trust) for frame in frames[1:]} == {"cfi"}
    explained = [frame.explanation or "" for frame in frames[1:6]]
    assert all("the STACK CFI record of the symbol file for" in each for each in explained)


def test_lists_in_a_store(tmp_path: Path) -> None:
    """As Breakpad's tools keep them: of many builds, told apart by their ids."""
    built, whole = _lost(tmp_path)
    text = symbol_file(built.twin, "program")
    identity = text.split(" ", 4)[3]
    for known, said in ((identity, text), ("0" * 33, "MODULE Linux x86_64 0 program\n")):
        place = tmp_path / "store" / "program" / known
        place.mkdir(parents=True)
        (place / "program.sym").write_text(said)
    search = Search(directories=[str(tmp_path / "store")])
    with open_core(str(built.core), search=search) as image:
        frames = list(image.report(walk=Walk()).threads[0].frames)
        (program,) = [each for each in all_facts(image) if each.module.is_executable]
    assert program.module.state == "missing"
    named = len(re.findall("^FUNC", text, re.MULTILINE))
    assert program.symbol_sources is not None and program.symbol_sources["symbol-file"] == named
    assert "its names and unwind rows come from" in program.module.remark
    assert [frame.pc for frame in frames] == whole
    assert [frame.function for frame in _own(frames, built)] == CHAIN


@pytest.mark.parametrize("kind", ["pie", "no-pie"])
def test_a_list_without_rows(kind: str, tmp_path: Path) -> None:
    """It lends its names; the frames are those that are found without it, up to main."""
    built, _ = _lost(tmp_path, f"-{kind}", "-O0")
    listed = tmp_path / "program.sym"
    text = symbol_file(built.twin, "program", low=FIXED if kind == "no-pie" else 0)
    listed.write_text(re.sub("^STACK.*\n", "", text, flags=re.MULTILINE))
    frames = _frames(built, listed)
    without = [frame.pc for frame in _frames(built)]
    assert [frame.pc for frame in frames] == without[: len(frames)]
    assert [frame.function for frame in _own(frames, built)] == CHAIN
    search = Search(symbol_files=[str(listed)])
    with open_core(str(built.core), search=search) as image:
        (program,) = [each for each in image.modules if each.is_executable]
    assert program.remark.endswith(f": its names come from {listed}.")


def test_expressions(tmp_path: Path) -> None:
    """The same rules, said otherwise."""
    built, whole = _lost(tmp_path)
    text = symbol_file(built.twin, "program")
    text = re.sub(r"\.cfa: (\$\w+) (\d+) \+", r".cfa: \1 \2 8 - + 2 2 * 4 + +", text)
    text = re.sub(r"\.ra: \.cfa -8 \+ \^", ".ra: .cfa 16 - 8 + ^", text)
    text = re.sub(r"(\$\w+): \.cfa (-\d+) \+ \^", r"\1: .cfa 3 + 0 3 - + \2 + 64 64 % + ^ ", text)
    listed = tmp_path / "program.sym"
    listed.write_text(text)
    frames = _frames(built, listed)
    assert [frame.pc for frame in frames] == whole
    assert {str(frame.trust) for frame in frames[1:]} == {"cfi"}


def test_a_list_of_another_build_lends_nothing(tmp_path: Path) -> None:
    built, _ = _lost(tmp_path)
    listed = tmp_path / "program.sym"
    text = symbol_file(built.twin, "program").split(" ")
    text[3] = "0123456789ABCDEF0123456789ABCDEF0"
    listed.write_text(" ".join(text))
    found = _frames(built, listed)
    assert [(frame.pc, str(frame.trust)) for frame in found] == [
        (frame.pc, str(frame.trust)) for frame in _frames(built)
    ]
    assert all(not frame.function for frame in _own(found, built))


@pytest.mark.parametrize(
    "damage",
    [
        ("+ ^", "+ ^ ^ ^ @"),
        (".cfa:", ".cfa: $nothing"),
        ("INIT ", "INIT ffffffffffffff"),
        (".ra: .cfa -8 + ^", ".ra: .cfa"),
        ("STACK CFI", "STACK CFI STACK CFI"),
        (" + ", " 99999999999999999999 + "),
    ],
)
def test_damaged_records(damage: tuple[str, str], tmp_path: Path) -> None:
    """No row is made of them: what is left of the rows leads, and searches of the stack."""
    built, whole = _lost(tmp_path)
    listed = tmp_path / "program.sym"
    listed.write_text(symbol_file(built.twin, "program").replace(*damage))
    frames = _frames(built, listed)
    assert frames[0].pc == whole[0]
    assert len(frames) >= len(whole) // 2
    assert [frame.pc for frame in frames] == whole or "scan" in {
        str(frame.trust) for frame in frames
    }

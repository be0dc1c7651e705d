"""`whocall symbol` and `functions` take the names that whocall prints, of a process or a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from corpus.crash import crash
from programs import Crash
from sessions import SCRIPT, Said, batch
from stacks import functions

HELPER = ["set whocall helper on", "set whocall helper off"]


def lines_about(said: Said, name: str) -> list[str]:
    return [line for line in said.out.splitlines() if f" is {name} (+0) in " in line]


@pytest.mark.parametrize("setting", HELPER)
def test_one_wrong_word_hides_nothing(workers: Crash, setting: str) -> None:
    asked = [
        setting,
        "whocall symbol nonesuch main sub_11 1+",
        "echo next\\n",
        "whocall symbol main",
    ]
    said = batch(asked, [workers.exe, workers.core])
    first, second = said.out.split("next\n")
    assert "main" in first and " is main" in second, said
    for complaint in ('No symbol "nonesuch"', 'No symbol "sub_11"', "A syntax error"):
        assert complaint in said.err, said


SHOP = """
#include <unistd.h>
namespace shop {
template <class T> struct table { __attribute__((noinline)) int find(T const *at); };
template <class T> int table<T>::find(T const *at) { return write(2, "ran\\n", 4) + !at; }
__attribute__((noinline)) void close() { write(2, "ran\\n", 4); }
}
int main() { shop::close(); shop::table<int> one; return one.find(nullptr); }
"""


def test_functions_of_the_names_that_backtraces_have_are_not_called(tmp_path: Path) -> None:
    (tmp_path / "shop.cpp").write_text(SHOP)
    exe = tmp_path / "shop"
    subprocess.run(["g++", "-O1", "-g", "-o", exe, tmp_path / "shop.cpp"], check=True)
    names = ["shop::close()", "shop::table<int>::find(int const*)"]
    others = "shop::open(int, char const*) sizeof(int) shop::close"
    asked = [f"whocall symbol {name}" for name in (*names, others)]
    said = batch(["break main", "run", *asked, "kill"], [exe])
    assert "ran\n" not in said.out + said.err, said
    for name in names:
        assert lines_about(said, name), said
    assert 'No function is called "shop::open(int, char const*)" here.' in said.err, said
    assert "0x0000000000000004" in said.out, said
    assert said.out.count(f" is {names[0]} (+0) in ") == 2, said


SHAPES = """
struct Shape { virtual int area(int) = 0; virtual int edges(int) = 0; };
struct Square : Shape { int area(int) override; int edges(int) override; };
struct Circle : Shape { int area(int) override; int edges(int) override; };
__attribute__((noinline)) static int add(int at) { return *(volatile int *)(long)at; }
int Square::area(int at) { return add(at) + 1; }
int Square::edges(int at) { return add(at) + 2; }
int Circle::area(int at) { return add(at) + 3; }
int Circle::edges(int at) { return add(at) + 4; }
int run(Shape *shape, int at);
int main(int count, char **) {
  Square square; Circle circle;
  return run(count > 1 ? (Shape *)&square : &circle, count + 3);
}
"""
RUN = "struct Shape { virtual int area(int) = 0; virtual int edges(int) = 0; };"
RUN += " int run(Shape *shape, int at) { return shape->edges(at) + 7; }"


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    place = tmp_path_factory.mktemp("shapes")
    (place / "shapes.cpp").write_text(SHAPES)
    (place / "run.cpp").write_text(RUN)
    exe = place / "shapes"
    sources = [place / "shapes.cpp", place / "run.cpp"]
    # Of the shared libstdc++ some releases have more classes than one name is shown for.
    flags = ["-O1", "-w", "-s", "-static-libstdc++", "-static-libgcc"]
    subprocess.run(["g++", *flags, "-o", exe, *sources], check=True)
    return Crash(exe, exe, crash(exe, place).core)


@pytest.mark.parametrize("setting", HELPER)
def test_names_by_slots_of_tables_are_taken(shapes: Crash, setting: str) -> None:
    """In quotes or without; one that classes share is that of each."""
    names = ["Circle::[slot 1]?", '"Circle::[slot 1]?"', "'Circle::[slot 1]'", "[slot 1]?"]
    asked = [f"whocall symbol {name}" for name in (*names, "Circle::[slot 9]?")]
    said = batch([setting, "whocall bt", *asked], [shapes.exe, shapes.core])
    assert " in Circle::[slot 1]? " in said.out, said
    assert len(lines_about(said, "Circle::[slot 1]?")) == len(names), said
    assert len(lines_about(said, "Square::[slot 1]?")) == 1, said
    assert said.err.count("\n") == 1, said


def test_the_command_line_takes_them_too(shapes: Crash) -> None:
    line = [sys.executable, str(SCRIPT), "symbol", shapes.core, "[slot 1]?", "Circle::[slot 0]"]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    for name in ("Circle::[slot 1]?", "Square::[slot 1]?", "Circle::[slot 0]?"):
        assert told.count(f" is {name} (+0) in ") == 1, told


SHORTENED = r"""
#include <cstdlib>
#include <map>
struct row { long cells[3]; };
template <class K, class V> struct table {
  std::map<K, V> rows;
  template <class F> __attribute__((noinline)) long visit(F each) const {
    long sum = 0;
    for (const auto &row : rows) sum += each(row.second);
    return sum;
  }
};
int main() {
  table<long, row> all;
  all.rows[3] = {};
  return all.visit([](const row &one) -> long { if (!one.cells[0]) abort(); return 1; });
}
"""


def test_names_that_lines_had_no_room_for_are_taken(tmp_path: Path) -> None:
    """Without arguments, parameters and the returned type, as a narrow screen has them."""
    (tmp_path / "shortened.cpp").write_text(SHORTENED)
    exe = tmp_path / "shortened"
    subprocess.run(["g++", "-O1", "-o", exe, tmp_path / "shortened.cpp"], check=True)
    core = crash(exe, tmp_path).core
    line = [sys.executable, str(SCRIPT), "bt", "--width", "60", core]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    shown = "table<...>::visit<...>(...) const"
    assert f" in {shown}" in told.replace("\n   ", ""), told
    said = batch([f"whocall symbol {shown}"], [exe, core])
    assert "long table<long, row>::visit<main::{lambda(row const&)#1}>(" in said.out, said
    assert " const (+0) in " in said.out, said


def test_names_out_of_files_are_no_long_work(workers: Crash) -> None:
    """Each operator in one could be read as one, and as letters."""
    name = "operator<" * 60 + "!"
    said = batch([f"whocall symbol {name}", "echo next\\n"], [workers.exe, workers.core])
    assert "next" in said.out


def test_a_name_that_could_be_a_number_is_a_name(tmp_path: Path) -> None:
    source, exe = tmp_path / "adds.c", tmp_path / "adds"
    source.write_text("int add(int a) { return a; } int main(void) { return add(0); }")
    subprocess.run(["gcc", "-o", exe, source], check=True)
    line = [sys.executable, str(SCRIPT), "symbol", exe, "add", "0xadd"]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    assert told.count(" is add (+0) in ") == 1, told
    assert told.count("\n0xadd is in no known function of ") == 1, told


@pytest.mark.parametrize("setting", HELPER)
def test_of_a_file_alone(workers: Crash, setting: str) -> None:
    """At its link addresses."""
    table = functions(workers.twin)
    hidden = {f"sub_{at:x}": at for name, at in table.items() if name.startswith("work")}
    assert hidden
    name, at = next(iter(hidden.items()))
    asked = [setting, f"whocall symbol {name} {at:#x}", f"whocall functions ^{name}$"]
    said = batch(asked, [workers.exe])
    assert len(lines_about(said, name)) == 2, said
    assert f"{workers.exe}: 1 function\n" in said.out, said
    assert f"{at:#018x}" in said.out, said


def test_a_module_is_none_of_a_file_alone(workers: Crash) -> None:
    said = batch(["whocall functions -module libc.so.6 x"], [workers.exe])
    assert "No module is loaded" in said.err, said

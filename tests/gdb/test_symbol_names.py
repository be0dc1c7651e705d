"""`whocall symbol` and `functions` take the names that whocall prints, of a process or a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs import Crash
from sessions import Said, batch
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

"""Completion of names and files, where there is a program, through `complete` and TAB."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import Crash, compiled, once, shared
from sessions import Answer, Question, asked, batch
from terminals import terminal

NAMES = """
namespace outer { namespace inner { struct Reader {
  __attribute__((noinline)) int read_all(int *p);
  bool operator<(const Reader &other) const; }; }
__attribute__((noinline)) int reading(int *p); }
bool outer::inner::Reader::operator<(const Reader &) const { return false; }
int outer::inner::Reader::read_all(int *p) { return 1 + *(volatile int *)p; }
int outer::reading(int *p) { inner::Reader r; return r.read_all(p) + (r < r); }
int main() { return outer::reading(0) + 1; }
"""
MANY = 100_000


@pytest.fixture(scope="module")
def names() -> Crash:
    """Functions of C++ that .dynsym names."""
    return shared("names", NAMES, "-O1 -x c++ -rdynamic")


FUNCTIONS = {
    "outer::inner::Reader::": ["operator<", "read_all"],
    "outer::rea": ["ding"],
    "-module names outer::r": ["eading"],
    "-module libc.so.6 lrand": ["48", "48_r"],
    "-module libc.so.6 outer": [],
    "-module no-such-module q": [],
    "-json -module libc.so.6 -j": [],
    "-json -": ["module"],
    "(": [],
    "'outer": [],
    "no_such_name": [],
}
MODULES = [
    f"whocall {command} li"
    for command in ("functions -module", "repair", "repair -all", "export -module")
]
MANY_IN_LIBC = "whocall functions -module libc.so.6 _"
UNLIMITED = ("set max-completions unlimited", f"complete {MANY_IN_LIBC}")
LIMITED = ("set max-completions 7", f"complete {MANY_IN_LIBC}", "set max-completions 200")
NOTHING = "complete whocall revert l"


@pytest.fixture(scope="module")
def session(names: Crash) -> dict[Question, Answer]:
    """One session answers all of them."""
    lines = [*(f"whocall functions {text}" for text in FUNCTIONS), *MODULES]
    questions: list[Question] = [f"complete {line}" for line in lines]
    return asked([*questions, NOTHING, LIMITED, UNLIMITED], [names.exe, names.core])


def completions(question: Question, session: dict[Question, Answer]) -> list[str]:
    assert session[question].err == ""
    return session[question].out.splitlines()


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions(text: str, session: dict[Question, Answer]) -> None:
    line = f"whocall functions {text}"
    found = completions(f"complete {line}", session)
    assert found == [line + answer for answer in FUNCTIONS[text]]


@pytest.mark.parametrize("line", MODULES)
def test_modules(line: str, session: dict[Question, Answer]) -> None:
    found = completions(f"complete {line}", session)
    assert f"{line}bc.so.6" in found
    assert len(found) == len(set(found))


def test_gdb_limits_and_never_repeats(session: dict[Question, Answer]) -> None:
    every, limited = completions(UNLIMITED, session), completions(LIMITED, session)
    assert len(every) == len(set(every)) > 50
    assert limited[:7] == every[:7]
    assert len(limited) == 8  # gdb says that it stopped


def test_nothing_is_given_back_before_a_repair(session: dict[Question, Answer]) -> None:
    assert completions(NOTHING, session) == []


def test_modules_before_it_runs_and_where_pythons_do_not_fit(names: Crash, foreign: Path) -> None:
    line = f"complete whocall repair {names.exe.name[:2]}"
    wanted = f"whocall repair {names.exe.name}\n"
    assert batch([line], [names.exe]).out == wanted
    assert batch([line], [names.exe, names.core], script=foreign).out.endswith(f"\n{wanted}")


FILES = [
    "whocall audit", "whocall audit -json", "whocall signatures", "whocall signatures x.a -output",
    "whocall trace", "whocall trace -profile -output",
    "set whocall search-path", "set whocall symbol-files", "set whocall signature-files",
]  # fmt: skip


def test_files(tmp_path: Path) -> None:
    (tmp_path / "name one").touch()
    (tmp_path / "name.two").touch()
    found = asked([f"cd {tmp_path}", *(f"complete {command} na" for command in FILES)])
    for command in FILES:
        answers = found[f"complete {command} na"].out.splitlines()
        assert f"{command} name.two" in answers
        assert len(answers) == 2


def _many(folder: Path) -> None:
    labels = "".join(
        f".globl f{n}_x\n.type f{n}_x,@function\nf{n}_x: ret\n.size f{n}_x,1\n" for n in range(MANY)
    )
    (folder / "many.s").write_text(labels)
    source = f'__asm__(".include \\"{folder}/many.s\\""); int main(void) {{ return 0; }}\n'
    compiled(folder, "many", source, "-O0")


# Which files' tables are read, and whether that is this one.
COUNTING = """
import whocall.base.process_image as image
read, opened = [], image.open_symbols
def counting(path, **more):
    read.append(path.endswith('/many'))
    return opened(path, **more)
image.open_symbols = counting
"""


def test_a_hundred_thousand_functions_do_not_hold_up_a_line() -> None:
    exe = once("many", f"{MANY} functions", _many) / "many"
    complete = ["complete whocall functions f1234", "python print('read', read.count(True))"]
    said = batch([f"python\n{COUNTING.strip()}", "starti", *complete, *complete], [exe])
    assert said.out.count("\nwhocall functions f1234") == 2 * (1 + 10)
    assert said.out.count("\nread 1\n") == 2, "each table is read once"


def test_tab_after_colons_and_dashes(names: Crash) -> None:
    child = terminal(names)
    for typed, added in (
        ("whocall functions outer::inner::Reader::rea", "d_all"),
        ("whocall functions -module libc.so.6 qsort_", "r"),
        ("whocall bt -without frame-p", "ointer"),
        ("whocall bt -past", "-main"),
        ("whocall comp", "are"),
    ):
        child.send(typed)
        child.expect_exact(typed)
        child.send("\t")
        child.expect_exact(added)
        child.sendcontrol("c")
        child.expect_exact("Quit")
    child.close(force=True)

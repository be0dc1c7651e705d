"""Completion of names and files, where there is a program, through `complete` and TAB."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import Crash, compiled, shared
from sessions import batch
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


def completions(line: str, crash: Crash, *before: str) -> list[str]:
    said = batch([*before, "echo \\n{answers}\\n", f"complete {line}"], [crash.exe, crash.core])
    assert said.err == ""
    assert said.status == 0
    return said.out.split("{answers}\n", 1)[1].splitlines()


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("outer::inner::Reader::", ["operator<", "read_all"]),
        ("outer::rea", ["ding"]),
        ("-module names outer::r", ["eading"]),
        ("-module libc.so.6 qso", ["rt", "rt_r"]),
        ("-module libc.so.6 outer", []),
        ("-module no-such-module q", []),
        ("-json -module libc.so.6 -j", []),
        ("-json -", ["module"]),
        ("(", []),
        ("'outer", []),
        ("no_such_name", []),
    ],
)
def test_functions(text: str, answers: list[str], names: Crash) -> None:
    line = f"whocall functions {text}"
    assert completions(line, names) == [line + answer for answer in answers]


@pytest.mark.parametrize(
    "command", ["functions -module", "repair", "repair -all", "export -module"]
)
def test_modules(command: str, names: Crash) -> None:
    line = f"whocall {command} li"
    found = completions(line, names)
    assert f"{line}bc.so.6" in found
    assert len(found) == len(set(found))


def test_modules_before_it_runs_and_where_pythons_do_not_fit(names: Crash, foreign: Path) -> None:
    line = f"complete whocall repair {names.exe.name[:2]}"
    wanted = f"whocall repair {names.exe.name}\n"
    assert batch([line], [names.exe]).out == wanted
    assert batch([line], [names.exe, names.core], script=foreign).out.endswith(f"\n{wanted}")
    assert batch(["complete whocall revert l"], [names.exe, names.core]).out.count("revert") == 0


def test_gdb_limits_and_never_repeats(names: Crash) -> None:
    line = "whocall functions -module libc.so.6 _"
    every = completions(line, names, "set max-completions unlimited")
    assert len(every) == len(set(every)) > 50
    assert completions(line, names, "set max-completions 7")[:7] == every[:7]
    assert len(completions(line, names, "set max-completions 7")) == 8  # gdb says that it stopped


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("whocall audit", "na"),
        ("whocall audit -json", "na"),
        ("whocall signatures", "na"),
        ("whocall signatures x.a -output", "na"),
        ("set whocall search-path", "na"),
        ("set whocall symbol-files", "na"),
        ("set whocall signature-files", "na"),
    ],
)
def test_files(command: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "name one").touch()
    (tmp_path / "name.two").touch()
    said = batch([f"cd {tmp_path}", "echo {answers}\\n", f"complete {command} {word}"])
    found = said.out.split("{answers}\n")[1].splitlines()
    assert f"{command} name.two" in found
    assert len(found) == 2


def test_nothing_is_said_where_there_is_nothing(names: Crash) -> None:
    for line in ("whocall functions x", "whocall functions -module x", "whocall symbol x"):
        said = batch([f"complete {line}"])
        assert (said.out, said.err, said.status) == ("", "", 0)


def test_a_hundred_thousand_functions_do_not_hold_up_a_line(tmp_path: Path) -> None:
    labels = "".join(
        f".globl f{n}_x\n.type f{n}_x,@function\nf{n}_x: ret\n.size f{n}_x,1\n" for n in range(MANY)
    )
    (tmp_path / "many.s").write_text(labels)
    source = f'__asm__(".include \\"{tmp_path}/many.s\\""); int main(void) {{ return 0; }}\n'
    exe = compiled(tmp_path, "many", source, "-O0")
    timed = "python t = time.process_time(); gdb.execute('complete whocall functions f1234'); "
    timed += "print('took', time.process_time() - t)"
    said = batch(["python import time", "starti", timed, timed], [exe])
    assert said.out.count("\nwhocall functions f1234") == 2 * (1 + 10)
    first, again = (float(line.split()[1]) for line in said.out.splitlines() if "took" in line)
    assert first < 2
    assert again < 0.2


def test_tab_after_colons_and_dashes(names: Crash) -> None:
    child = terminal(names, "-iex", "set height 0")
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

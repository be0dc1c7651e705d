"""Names of functions that a stripped program took from static libraries, by signature files that
the tests make of these. The oracle is nm on the unstripped twin.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from oracles.linkers import USE_ANOTHER
from oracles.tools import run

from acceptance.helpers.name_twins import stripped
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.name_files import signature_programs as programs
from acceptance.name_files.signature_programs import Tally
from whocall.base.native_module import native
from whocall.cli import main as cli

TITLE = "functions of the C library in static, stripped programs"


@pytest.fixture(scope="module", name="signatures")
def signature_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each library, made by the command line."""
    directory = tmp_path_factory.mktemp("signatures")
    files = {}
    for name, library in programs.LIBRARIES.items():
        files[name] = directory / name
        assert cli.main(["signatures", library, "-o", str(files[name])]) == 0
    return files


@pytest.fixture(scope="module", name="ours")
def names_of_libraries() -> dict[str, set[str]]:
    """What each library defines."""
    return {name: programs.library_names(name) for name in programs.LIBRARIES}


@pytest.mark.parametrize(
    ("library", "flags"),
    [("glibc", "-O0"), ("musl", "-Os"), ("glibc32", "-O2")],
)
def test_functions_on_stacks(
    library: str,
    flags: str,
    signatures: dict[str, Path],
    ours: dict[str, set[str]],
    tmp_path: Path,
    scoreboard: Scoreboard,
) -> None:
    twin = programs.build(tmp_path / "program", library, *flags.split())
    bare = stripped(twin)
    total = Tally()
    for place in programs.PLACES[library]:
        core = programs.dump(bare, place, tmp_path / f"{place}")
        total += programs.judge_stacks(core, bare, twin, signatures[library], ours[library])
        shutil.rmtree(tmp_path / f"{place}")
    table = scoreboard.table(TITLE, "program", "functions", "named %", "wrong")
    row = (f"{library} {flags}, on stacks", total.all, 100 * total.share, len(total.wrong))
    table.rows.append(row)
    assert not total.wrong
    assert total.all > 60
    assert total.share >= 0.9


@pytest.mark.parametrize(
    ("library", "flags"),
    [
        ("glibc", "-O2"),
        ("glibc", "-O1 -static-pie"),
        ("glibc", "-O2 -ffunction-sections -Wl,--gc-sections"),
        ("glibc", f"-O2 {USE_ANOTHER}"),
        ("glibc", "-O2 -Wl,-z,norelro -Wl,--no-relax"),
        ("musl", "-O2"),
        ("musl", "-O0 -Wl,--gc-sections"),
        ("glibc32", "-Os"),
        ("glibc32", "-O2 -static-pie"),
    ],
)
def test_all_functions(
    library: str,
    flags: str,
    signatures: dict[str, Path],
    ours: dict[str, set[str]],
    tmp_path: Path,
    scoreboard: Scoreboard,
) -> None:
    twin = programs.build(tmp_path, library, *flags.split())
    tally = programs.judge_all(twin, [signatures[library]], ours[library])
    table = scoreboard.table(TITLE, "program", "functions", "named %", "wrong")
    table.rows.append((f"{library} {flags}", tally.all, 100 * tally.share, len(tally.wrong)))
    assert not tally.wrong
    assert tally.all > 250
    assert tally.share >= 0.9


@pytest.mark.parametrize(
    ("library", "foreign"), [("glibc", "musl"), ("musl", "glibc"), ("glibc32", "glibc")]
)
def test_another_library_says_nothing_wrong(
    library: str, foreign: str, signatures: dict[str, Path], tmp_path: Path
) -> None:
    twin = programs.build(tmp_path, library, "-O2")
    tally = programs.judge_all(twin, [signatures[foreign]], programs.library_names(foreign))
    assert not tally.wrong
    assert len(programs.found_names(stripped(twin), [signatures[foreign]])) <= 3


def test_programs_without_the_library_get_no_names(signatures: dict[str, Path]) -> None:
    """Dynamically linked ones have code of their own only."""
    files = [Path(shutil.which(name) or "") for name in ("bash", "perl", "git", "openssl", "gdb")]
    for file in [*files, Path("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")]:
        assert not programs.found_names(file, [signatures["glibc"], signatures["musl"]]), file


OWN = r"""
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <syslog.h>
/* What libraries have under other names, with the same code. */
int my_printf(const char *form, ...) {
  va_list rest; va_start(rest, form);
  int written = vfprintf(stdout, form, rest);
  va_end(rest); return written;
}
int my_sprintf(char *text, const char *form, ...) {
  va_list rest; va_start(rest, form);
  int written = vsprintf(text, form, rest);
  va_end(rest); return written;
}
int my_sscanf(const char *text, const char *form, ...) {
  va_list rest; va_start(rest, form);
  int read = vsscanf(text, form, rest);
  va_end(rest); return read;
}
void my_log(int level, const char *form, ...) {
  va_list rest; va_start(rest, form);
  vsyslog(level, form, rest);
  va_end(rest);
}
size_t my_wcsnlen(const wchar_t *s, size_t n) {
  const wchar_t *z = wmemchr(s, 0, n);
  if (z) n = z - s;
  return n;
}
int my_abs(int n) { return n < 0 ? -n : n; }
char *my_strdup(const char *s) {
  size_t size = strlen(s) + 1; char *copy = malloc(size);
  return copy ? memcpy(copy, s, size) : 0;
}
int my_atoi(const char *text) { return (int)strtol(text, 0, 10); }
static char pool[1 << 20]; static size_t used;
void *malloc(size_t n) { void *p = pool + used; used += (n + 31) & ~(size_t)15; return p; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); return p ? memcpy(q, p, n) : q; }
int main(int count, char **words) {
  char text[100]; int n = 0;
  my_sprintf(text, "%d", count); my_sscanf(text, "%d", &n); my_log(1, "%d", n);
  return my_printf("%s%d", my_strdup(text), my_atoi(text)) + my_wcsnlen(L"a", 2) + my_abs(n);
}
"""


@pytest.mark.parametrize("library", ["glibc", "musl", "glibc32"])
@pytest.mark.parametrize("flags", ["-Os", "-O2", "-O2 -fno-stack-protector -fomit-frame-pointer"])
def test_own_code_like_that_of_a_library(
    library: str,
    flags: str,
    signatures: dict[str, Path],
    ours: dict[str, set[str]],
    tmp_path: Path,
) -> None:
    """Wrappers that are byte for byte the library's, and functions that replace its own."""
    twin = programs.build(tmp_path, library, "-fno-builtin", *flags.split(), source=OWN)
    tally = programs.judge_all(twin, [signatures[library]], ours[library])
    assert not tally.wrong
    assert tally.share >= 0.85


CXX_SOURCE = r"""
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
struct Pair { int a; double b; bool operator<(const Pair &o) const { return a < o.a; } };
int main(int, char **words) {
  std::vector<unsigned> numbers(words[0], words[0] + 3);
  std::vector<Pair> pairs; pairs.push_back({1, 2});
  std::vector<long *> pointers; pointers.push_back(nullptr);
  std::sort(numbers.begin(), numbers.end());
  std::map<std::string, int> map; map[words[0]] = 2;
  std::map<int, Pair> other; other[3] = pairs[0];
  std::ostringstream text; text << map.size() << pairs[0].b << other.size();
  std::wstring wide(3, L'x'); wide += L"yy";
  std::string name(words[0]); name.append("x"); name.insert(0, "y");
  try { throw std::runtime_error(name + text.str()); }
  catch (std::exception &error) { std::cout << error.what() << wide.size(); }
}
"""
_OF_THE_COMPILER = ("stdc++", "gcc", "gcc_eh")


def test_templates_of_one_s_own(tmp_path: Path, scoreboard: Scoreboard) -> None:
    """Instances for different types have the same code: they take references to be named."""
    twin = tmp_path / "twin"
    subprocess.run(
        ["g++", "-O2", "-static", "-x", "c++", "-", "-o", str(twin)],
        input=CXX_SOURCE,
        text=True,
        check=True,
    )
    own = [run(["g++", f"-print-file-name=lib{name}.a"]).strip() for name in _OF_THE_COMPILER]
    libraries = [programs.LIBRARIES["glibc"], *own]
    files = [tmp_path / "all", tmp_path / "cxx"]
    assert cli.main(["signatures", *libraries, "-o", str(files[0])]) == 0
    assert cli.main(["signatures", libraries[1], "-o", str(files[1])]) == 0
    for file, least in zip(files, (1800, 600)):
        tally = programs.judge_all(twin, [file], set())
        found = programs.found_names(stripped(twin), [file])
        row = (f"C++ by {file.name}: {len(found)} names", "", "", len(tally.wrong))
        scoreboard.table(TITLE, "program", "functions", "named %", "wrong").rows.append(row)
        assert not tally.wrong
        assert len(found) > least


def test_the_same_libraries_give_the_same_file(signatures: dict[str, Path]) -> None:
    for name, library in programs.LIBRARIES.items():
        assert native.build_signatures([library])[0] == signatures[name].read_bytes()


_LABELS = """
.globl whole, middle, behind
.type whole, @function
whole: nop
middle: lea {sum}(%rdi),%eax
ret
.size whole, . - whole
behind: lea 5(%rdi),%eax
ret
"""
_CALLERS = """
.globl caller{number}
.type caller{number}, @function
caller{number}:
.rept 120
add ${number},%edi
.endr
call behind
jmp middle
.size caller{number}, . - caller{number}
"""


@pytest.mark.parametrize("sum_of_program", [7, 8])
def test_a_label_within_a_function_is_none(sum_of_program: int, tmp_path: Path) -> None:
    """It has no size and lies in what has one. One behind a function may well be another, and is.

    With another sum the program has a `whole` of its own, to which only jumps from others lead.
    """
    callers = [_assembled(tmp_path, _CALLERS.format(number=number)) for number in (1, 2)]
    library = tmp_path / "liblabels.a"
    run(["ar", "rcs", str(library), *callers, _assembled(tmp_path, _LABELS.format(sum=7))])
    (tmp_path / "signatures").write_bytes(native.build_signatures([str(library)])[0])
    twin = tmp_path / "twin"
    own = _assembled(tmp_path, _LABELS.format(sum=sum_of_program))
    run(["ld", "-e", "caller1", "-o", str(twin), *callers, own])
    found = programs.found_names(stripped(twin), [tmp_path / "signatures"])
    recognised = {"whole"} if sum_of_program == 7 else set()
    assert set(found.values()) == {"caller1", "caller2", "behind"} | recognised


def _assembled(directory: Path, source: str) -> str:
    made = directory / f"{len(list(directory.iterdir()))}.o"
    made.with_suffix(".s").write_text(source)
    run(["as", "-o", str(made), str(made.with_suffix(".s"))])
    return str(made)

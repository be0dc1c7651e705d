"""Names that functions say of themselves: what they pass to failed assertions and to whoever
reports their errors. The oracle is nm on the unstripped twin.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from oracles.tools import environment, run

from acceptance.helpers import name_twins
from acceptance.names.said_names import PROGRAM, judge_functions, names_of, plain, said
from whocall.base.native_module import native

NOINLINE = "__attribute__((noinline, noclone))"


@pytest.mark.parametrize(
    "flags",
    ["", "-O1", "-O3", "-Os", "-no-pie", "-fno-plt", "-fcf-protection", "-flto", "-m32 -no-pie",
     "-m32", "-fno-reorder-blocks-and-partition", "-fno-asynchronous-unwind-tables",
     "-fno-omit-frame-pointer"],
)  # fmt: skip
def test_assertions(flags: str, tmp_path: Path) -> None:
    names = {plain(each) for each in names_of(tmp_path, PROGRAM, *flags.split())}
    assert {"simple", "several"} <= names
    assert not names & {"first_heir", "second_heir", "twice", "inner", "late", "jumper"}


@pytest.mark.parametrize("flags", ["", "-Os", "-O1"])
def test_assertions_by_clang(flags: str, tmp_path: Path) -> None:
    assert {"simple", "several"} <= names_of(tmp_path, PROGRAM, *flags.split(), compiler="clang")


def test_assertions_of_musl(tmp_path: Path) -> None:
    assert {"simple", "several"} <= names_of(tmp_path, PROGRAM, compiler="musl-gcc")


def test_a_name_that_a_symbol_has_is_another_function_s(tmp_path: Path) -> None:
    source = f"""
      #include <assert.h>
      #include <stdlib.h>
      __attribute__((always_inline))
      inline int exported(int x) {{ assert(x != 1); return x + atoi("2"); }}
      extern inline int exported(int x);
      static {NOINLINE} int caller(int x) {{ return exported(x) * 3; }}
      static {NOINLINE} int honest(int x) {{ assert(x != 2); return x + atoi("3"); }}
      int (*volatile table[])(int) = {{caller, honest}};
      int main(int c, char **v) {{ (void)v; return table[0](c) + table[1](c); }}
    """
    # Where nothing is exported, the name stands in two functions.
    assert names_of(tmp_path, source, "-fno-reorder-blocks-and-partition") == {"honest"}
    flags = ("-rdynamic", "-fno-reorder-blocks-and-partition")
    assert names_of(tmp_path, source, *flags) == {"honest"}


def test_an_exported_function_that_only_its_callers_hold(tmp_path: Path) -> None:
    """The exported body checks nothing any more: the one name in the file is the caller's."""
    source = f"""
      #include <assert.h>
      #include <stdlib.h>
      extern __inline__ __attribute__((gnu_inline, always_inline))
      int exported(int x) {{ assert(x != 1); return x + atoi("2"); }}
      static {NOINLINE} int caller(int x) {{ return exported(x) * 3; }}
      __asm__(".globl exported\\n.type exported,@function\\nexported: ret\\n.size exported,1");
      int (*volatile table[])(int) = {{caller}};
      int main(int c, char **v) {{ (void)v; return table[0](c); }}
    """
    assert names_of(tmp_path, source, "-rdynamic") == set()


def test_what_headers_hold_is_inlined(tmp_path: Path) -> None:
    source = f"""
      #include <assert.h>
      #include <stdlib.h>
      # 1 "inline.h"
      static inline int from_header(int x) {{ assert(x != 1); return x + atoi("2"); }}
      # 1 "main.c"
      static {NOINLINE} int caller(int x) {{ return from_header(x) * 3; }}
      int (*volatile table[])(int) = {{caller}};
      int main(int c, char **v) {{ (void)v; return table[0](c); }}
    """
    assert names_of(tmp_path, source) == set()


def reporters(count: int, body: str, prototype: str, static: bool = True) -> str:
    """A program of `count` functions with that body and of `prototype`, which reports."""
    storage = "static" if static else ""
    head = f"static {NOINLINE} int last(int x) {{ {body} return atoi(v[x & 1])"
    functions = [head.replace("static", storage).replace("last", f"work_{i}") + f" + {i}; }}"
                 for i in range(count)]  # fmt: skip
    table = ", ".join(f"work_{i}" for i in range(count))
    return "\n".join([
        "#include <stdio.h>", "#include <stdlib.h>", "static char **v;",
        f"{NOINLINE} {prototype} {{ fprintf(stderr, \"%p%p%p\", (void *)&file, (void *)&line,"
        " (void *)&name); }",
        *functions,
        head + " * 3; }",
        f"int (*volatile table[])(int) = {{{table}, last}};",
        "int main(int c, char **words) { int s = 0; v = words;",
        f"for (int i = 0; i <= {count}; ++i) s += table[i](c); return s; }}",
    ])  # fmt: skip


REPORT = "static void report(const char *file, int line, const char *name)"
QUIET = "void report(int file, int line, const char *name)"


def test_who_gets_file_line_and_name_is_found(tmp_path: Path) -> None:
    body = "if (x == 77) report(__FILE__, __LINE__, __func__);"
    names = names_of(tmp_path, '#line 1 "work.c"\n' + reporters(9, body, REPORT))
    assert names == {f"work_{i}" for i in range(9)} | {"last"}


def test_few_callers_prove_nothing(tmp_path: Path) -> None:
    body = "if (x == 77) report(__FILE__, __LINE__, __func__);"
    assert names_of(tmp_path, '#line 1 "work.c"\n' + reporters(6, body, REPORT)) == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [("%s%s%s:%u: %s%sAssertion `%s' failed.\\n", {"work_0", "work_1"}),
     ("%s%s%s:%s: %s%sAssertion `%s' failed.\\n", {"work_0", "work_1"}),
     ("%s%s%s:%u: %s%sProof of `%s' failed.\\n", set())],
    ids=["glibc", "glibc from 2.43 on", "another"],
)  # fmt: skip
def test_who_prints_what_assertions_print(text: str, names: set[str], tmp_path: Path) -> None:
    """In static programs of glibc 2.37 and later only their own functions call __assert_fail."""
    check = 'if (x == 77) report("x != 77", __FILE__, __LINE__, __func__);'
    source = "\n".join([
        "#include <stdio.h>", "#include <stdlib.h>",
        f"static {NOINLINE} __attribute__((noreturn))",
        "void report(const char *what, const char *file, unsigned line, const char *name) {",
        f'printf("{text}", "", "", file, line, name, ": ", what); abort(); }}',
        *(f"static {NOINLINE} int work_{i}(int x) {{ {check} return atoi(\"2\") + x * {i}; }}"
          for i in range(2)),
        "int (*volatile table[])(int) = {work_0, work_1};",
        "int main(int c, char **v) { (void)v; return table[0](c) + table[1](c); }",
    ])  # fmt: skip
    assert names_of(tmp_path, source) == names


def test_without_a_file_symbols_have_to_agree(tmp_path: Path) -> None:
    body = "if (x == 77) report(1, __LINE__, __func__);"
    exported = reporters(9, body, QUIET, static=False)
    assert names_of(tmp_path, exported) == set()
    assert names_of(tmp_path, exported, "-rdynamic") == {"last"}


def test_words_that_are_no_names(tmp_path: Path) -> None:
    """All callers pass one of a few words, or words that are not their names."""
    some = 'if (x == 77) report("work.c", __LINE__, x & 2 ? "malloc" : "realloc");'
    assert names_of(tmp_path, reporters(12, some, REPORT)) == set()
    other = 'if (x == 77) report("work.c", __LINE__, "x_" WORD);'
    source = reporters(12, other, REPORT, static=False)
    for number in range(12):
        source = source.replace("WORD", f'"{number}"', 1)
    assert names_of(tmp_path, source.replace("WORD", '"y"'), "-rdynamic") == set()


SIGNATURES = r"""
#include <cassert>
#include <cstdlib>
#define KEEP __attribute__((noinline, noclone))
namespace geo {
struct Shape {
  explicit Shape(int v);
  ~Shape();
  KEEP int area(int x) const;
  KEEP static int make(int x, const char *text);
  KEEP bool operator==(int x) const;
  int value;
};
KEEP Shape::Shape(int v) : value(v) { assert(v != 3); value += atoi("1"); }
KEEP Shape::~Shape() { assert(value != 4); value += atoi("2"); }
int Shape::area(int x) const { assert(x != 5); return atoi("3") + value; }
int Shape::make(int x, const char *text) { assert(x != 6); return atoi(text); }
bool Shape::operator==(int x) const { assert(x != 7); return atoi("4") == x; }
namespace { KEEP int hidden(int *x) { assert(*x != 8); return *x + atoi("5"); } }
template <typename T> KEEP T larger(T a, T b) { assert(a != b); return a > b ? a : b + atoi("6"); }
KEEP int calls(int c) {
  auto lambda = [](int x) KEEP { assert(x != 9); return x + atoi("7"); };
  return lambda(c) + lambda(c + 1);
}
}
int main(int c, char **v) {
  geo::Shape shape(c);
  return shape.area(c) + geo::Shape::make(c, v[0]) + (shape == c) + geo::hidden(&c) +
         geo::larger(c, 7) + static_cast<int>(geo::larger(2L, long(c))) + geo::calls(c);
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_signatures(compiler: str, tmp_path: Path) -> None:
    source = (
        SIGNATURES if compiler == "g++" else SIGNATURES.replace("noinline, noclone", "noinline")
    )
    names = names_of(tmp_path, source, compiler=compiler)
    assert {"geo::Shape::area", "geo::Shape::make", "geo::(anonymous namespace)::hidden"} <= names
    assert not {name for name in names if "operator" in name or "lambda" in name or "<" in name}


def test_the_proof_is_told(tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, "-O2", source=PROGRAM)
    bare = name_twins.stripped(twin)
    start = next(at for at, name in said(bare).items() if name == "simple")
    assert "__assert_fail" in str(native.FileNames(str(bare)).describe(start).proof)


# Static archives whose functions report their failures, what they need, and how many names at
# least are found once nothing is exported.
LIBRARIES = {
    "libbfd": ("libbfd.a", 15),
    "libcrypto": ("libcrypto.a", 450),
    "libssl": ("libssl.a", 70),
    "libgnutls": ("libgnutls.a", 700),
    "libnettle": ("libnettle.a", 40),
    "libhogweed": ("libhogweed.a", 15),
    "libtirpc": ("libtirpc.a", 40),
}


def link_whole(archive: str, twin: Path) -> Path:
    """The whole archive as a program, which exports nothing; it cannot run."""
    path = run(["gcc", f"-print-file-name={archive}"]).strip()
    assert Path(path).is_absolute(), f"install the development package of {archive}"
    command = ["gcc", "-pie", "-nostartfiles", "-o", str(twin), "-Wl,-e,0", "-Wl,-z,notext",
               "-Wl,--defsym=__dso_handle=0",
               "-Wl,--unresolved-symbols=ignore-all", "-Wl,--allow-multiple-definition",
               "-Wl,--whole-archive", path, "-Wl,--no-whole-archive"]  # fmt: skip
    subprocess.run(command, check=True, env=environment(), stderr=subprocess.DEVNULL)
    return twin


def test_names_in_real_code(tmp_path: Path) -> None:
    total = bad = 0
    for name, (archive, floor) in LIBRARIES.items():
        names, wrong = judge_functions(link_whole(archive, tmp_path / name))
        print(f"\n{name}: {len(names)} by messages, {len(wrong)} wrong", end="")
        assert len(names) - len(wrong) >= floor
        assert len(wrong) <= max(2, len(names) / 50), wrong
        total += len(names)
        bad += len(wrong)
    assert bad <= total / 100
    shutil.rmtree(tmp_path)


def test_damaged_code_is_no_danger(tmp_path: Path) -> None:
    """Code and texts full of other values: no crash, no loop."""
    twin = name_twins.build(tmp_path, "-O2", source=PROGRAM)
    contents = name_twins.stripped(twin).read_bytes()
    hostile = tmp_path / "hostile"
    for step in range(60):
        damaged = bytearray(contents)
        for at in range(0x1000 + step * 3, len(damaged) - 8, 97):
            damaged[at] = contents[(at * 7) % len(contents)]
        hostile.write_bytes(damaged)
        try:
            native.functions(str(hostile))
        except native.Error:
            continue

"""Names by messages of a stripped file, and what its unstripped twin says of them (by nm)."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from oracles import nm_table

from acceptance.helpers import name_twins
from whocall import demangle
from whocall.base.native_module import native

# What compilers append to the names of functions that they changed or cut in two.
CLONE = re.compile(r"\.(?:constprop|isra|part|cold|localalias|lto_priv|llvm)\b.*| \[clone .*")
PART = ".cold"


def said(path: Path) -> dict[int, str]:
    """The names by messages."""
    table = native.functions(str(path))
    found = (table[at] for at in range(len(table)))
    return {each[0]: each[2] for each in found if each[3] == "message"}


def plain(name: str) -> str:
    """Without arguments, template arguments and the marks of clones."""
    text = demangle(CLONE.sub("", name.partition("@")[0])).replace("(anonymous namespace)", "{}")
    text = CLONE.sub("", text)
    before = re.sub(r"<.*", "", text.partition("(")[0])
    return before.rpartition(" ")[2].replace("{}", "(anonymous namespace)")


def judge(twin: Path) -> tuple[set[str], list[str]]:
    """All names by messages in the twin once it is stripped, and those that it contradicts."""
    found, false = _held_against(twin)
    return set(found.values()), list(false.values())


def judge_functions(twin: Path) -> tuple[set[str], list[str]]:
    """The same of functions: with one that is wrong its cold part is, and both are one mistake.

    How many parts there are hangs on the C library: from glibc 2.41 on assert() fails in them.
    """
    found, false = _held_against(twin)
    wrong = {found[at] for at in false}
    mistakes = [
        each
        for at, each in false.items()
        if not found[at].endswith(PART) or found[at].removesuffix(PART) not in wrong
    ]
    return {name.removesuffix(PART) for name in found.values()}, mistakes


def _held_against(twin: Path) -> tuple[dict[int, str], dict[int, str]]:
    """The names by messages, and what is to be said of the false ones; by address."""
    true: dict[int, set[str]] = defaultdict(set)
    for each in nm_table.symbols(twin):
        true[each.address].add(plain(each.name))
    found = said(name_twins.stripped(twin))
    false = {
        at: f"{at:#x}: {name}, in truth {sorted(true[at])}"
        for at, name in found.items()
        if plain(name) not in true[at]
    }
    return found, false


def names_of(tmp_path: Path, source: str, *flags: str, compiler: str = "gcc") -> set[str]:
    """The names by messages, none of them wrong."""
    twin = name_twins.build(tmp_path, "-O2", *flags, source=source, compiler=compiler)
    names, wrong = judge(twin)
    assert not wrong
    return names


# Each part shows one rule; what `called` does nobody can foresee.
PROGRAM = r"""
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#define KEEP __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))
KEEP int called(int x) { return getenv("HOME") ? x : x + 1; }

/* Its own name, and nothing else. */
KEEP static int simple(int x) { assert(x != 1); return called(x) + 1; }
KEEP static int several(int *x) { assert(x); assert(*x > 1); *x = called(*x); return 2; }

/* Inlined in two places. */
INLINE int twice(int x) { assert(x != 2); return x + 2; }
KEEP static int first_heir(int x) { return called(twice(x)) + 3; }
KEEP static int second_heir(int x) { return called(twice(x)) + 4; }

/* Inlined beside the caller's own name. */
INLINE int inner(int x) { assert(x != 3); return x; }
KEEP static int outer(int x) { assert(x != 4); return called(inner(x)) + 5; }

/* Inlined, but late. */
INLINE int late(int x) { assert(x != 5); return x; }
KEEP static int caller_of_late(int x) {
  if (called(x) == 3) x = called(x + 1);
  if (called(x) == 4) x = called(x + 2);
  return called(late(called(x))) + 6;
}

/* What another function jumps to. */
KEEP static int jumped_to(int x) { assert(x != 6); return called(x) + 7; }
KEEP static int jumper(int x) { return jumped_to(x * 3); }

int (*volatile table[])(int) = {simple, first_heir, second_heir, outer, caller_of_late, jumper};
int main(int argc, char **argv) {
  int sum = 0;
  (void)argv;
  for (unsigned i = 0; i < sizeof table / sizeof *table; ++i) sum += table[i](argc + 10);
  return several(&sum) + sum;
}
"""

"""Objective-C's methods: their names stand in tables that every file hands to the runtime."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers.name_twins import stripped
from whocall.base.native_module import native

SOURCE = """
#include <objc/Object.h>
#include <objc/runtime.h>
@interface Account : Object { int n; }
+ (id) open: (int) a with: (int) b;
- (int) total;
- (int) addTo: (int) x;
@end
@interface Account (Extra)
- (int) extra: (int) y;
+ (int) count;
@end
@interface Empty : Object
@end
@implementation Account
+ (id) open: (int) a with: (int) b {
  Account *x = class_createInstance(self, 0);
  x->n = a + b;
  return x;
}
- (int) total { return n; }
- (int) addTo: (int) x { n += x; return [self total] * 2; }
@end
@implementation Account (Extra)
- (int) extra: (int) y { return y + n; }
+ (int) count { return 3; }
@end
@implementation Empty
@end
int main(void) {
  id a = [Account open: 1 with: 2];
  return [a addTo: 5] + [a extra: [Account count]];
}
"""
WAYS = {
    "gcc -O0": ["gcc", "-O0"],
    "gcc -O2": ["gcc", "-O2"],
    "at a fixed address": ["gcc", "-O1", "-no-pie"],
    "clang": ["clang", "-O1", "-fobjc-runtime=gcc"],
}


def _as_the_compiler_calls_it(name: str) -> str:
    """`_i_Account_Extra_extra_`, of -[Account(Extra) extra:]."""
    words = re.fullmatch(r"([-+])\[(\w+)(?:\((\w+)\))? (\S+)\]", name)
    assert words, name
    kind = "i" if words[1] == "-" else "c"
    return f"_{kind}_{words[2]}_{words[3] or ''}_{words[4].replace(':', '_')}"


@pytest.mark.parametrize("way", WAYS)
def test_methods_are_named(way: str, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    includes = f"-I{run(['gcc', '-print-file-name=include']).strip()}"
    subprocess.run(
        [*WAYS[way], includes, "-x", "objective-c", "-", "-o", str(twin), "-lobjc",
         f"-L{Path(run(['gcc', '-print-libgcc-file-name']).strip()).parent}"],
        input=SOURCE, text=True, check=True,
    )  # fmt: skip
    truth = {
        (int(words[0], 16), words[2])
        for words in map(str.split, run(["nm", str(twin)]).splitlines())
        if len(words) == 3 and re.match(r"_[ic]_", words[2])
    }
    assert len(truth) == 5
    table = native.functions(str(stripped(twin)))
    rows = [table[at] for at in range(len(table))]
    found = {
        (row[0], _as_the_compiler_calls_it(row[2])) for row in rows if row[2][:2] in ("-[", "+[")
    }
    assert found == truth


def test_other_files_have_none(tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    subprocess.run(
        ["gcc", "-x", "c", "-", "-o", str(twin)], text=True, check=True,
        input='const char *text = "__objc_exec_class"; int main(void) { return !text; }',
    )  # fmt: skip
    table = native.functions(str(stripped(twin)))
    assert not [name for name in (table[at][2] for at in range(len(table))) if name[:2] == "-["]

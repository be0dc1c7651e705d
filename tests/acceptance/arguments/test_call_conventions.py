"""Functions of Linux files that are called as Windows has it, and such as only look like it: the
values that are told are true, and there are never more arguments than the source has.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import run

from acceptance.modules.module_crashes import answer, whocall

APART = "__attribute__((noinline, noclone))"
USES = f"""
#define APART {APART}
int *volatile nowhere;
APART int use(long *p, int *q) {{
  __asm__ volatile("" : : "r"(q) : "memory");
  return *nowhere + *p;
}}
"""
CASES = {
    # It keeps rdi and rsi for its caller, and uses them.
    "preserves all": (
        f"""__attribute__((no_caller_saved_registers, noinline)) void fill(int *p, long n) {{
              do *p++ = 7; while (--n); }}
            {APART} int three(int a, int b, int c, int d) {{ fill((int *)0, 77 + a);
              return a + b + c + d; }}
            int main(int count, char **words) {{ return three(count, 20, 30, 40); }}""",
        {"fill": [0, 78], "three": [1, 20, 30, 40]},
    ),
    # Addresses of arguments are taken, which is no va_start().
    "one address": (
        USES
        + """__attribute__((ms_abi)) APART int f(int a, int b, int *c, long d) {
              return use(&d, c) + a; }
            int main(int count, char **words) { return f(count, 20, 0, 40); }""",
        {"f": [1, 20, 0, 40]},
    ),
    "two addresses": (
        USES
        + """__attribute__((ms_abi)) APART int f(int a, int b, long c, long d) {
              return use(&d, (int *)&c) + a; }
            int main(int count, char **words) { return f(count, 20, 30, 40); }""",
        {"f": [1, 20, 30, 40]},
    ),
}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("case", CASES)
def test_no_value_stands_at_a_wrong_place(case: str, level: str, tmp_path: Path) -> None:
    source, handed = CASES[case]
    (tmp_path / "program.c").write_text(source)
    exe = tmp_path / "program"
    run(["gcc", "-mgeneral-regs-only", "-w", level, "-o", str(exe), str(tmp_path / "program.c")])
    core = crash(exe, tmp_path).core
    assert ", ...)" not in whocall("bt", core).stdout, "none takes more than it names"
    frames = answer("bt", core)["threads"][0]["frames"]
    assert {frame["function"] for frame in frames} >= set(handed)
    for frame in frames:
        wanted = handed.get(frame["function"])
        if wanted is None or frame["arguments"] is None:
            continue
        values = [each["value"] and int(each["value"], 16) for each in frame["arguments"]]
        assert len(values) <= len(wanted), frame
        for value, right in zip(values, wanted, strict=False):
            assert value in (None, right), frame

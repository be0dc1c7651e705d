"""A function that ended in a jump has no frame; the explanation of its caller names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash
from oracles import nm_table

from acceptance.helpers import chains
from whocall.base.process_image import Walk

SOURCE = r"""
#define KEEP __attribute__((noinline, noclone)) static
volatile int sink;
KEEP int reads(volatile int *p) { sink = 1; return *p + 1; }
KEEP int jumps(volatile int *p, int n) { sink = n; return reads(p); }
KEEP int calls(int n) { return jumps((volatile int *)8, n) + 1; }
int main(int argc, char **argv) { (void)argv; return calls(argc) + 1; }
"""


@pytest.mark.parametrize("compiler", ["gcc -m64", "gcc -m32", "clang -m64", "clang -m32"])
@pytest.mark.parametrize("without", [(), ("cfi",)])
def test_the_jumping_function_is_told(
    compiler: str, without: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "program.c").write_text(SOURCE, encoding="utf-8")
    exe = tmp_path / "program"
    run([*compiler.split(), "-O2", "-no-pie", "-fno-pic", "program.c", "-o", str(exe)], tmp_path)
    start = {each.name: each.address for each in nm_table.symbols(exe)}
    run(["strip", str(exe)], tmp_path)
    core = crash(exe, tmp_path).core
    (found,) = chains.of_core(core, exe, Walk(explain=True, without=without)).values()
    said = [frame.explanation or "" for frame in found.frames]
    assert "the call before it goes to the function below" not in said[1]
    told = f"the call before it goes to {start['jumps']:#x}, where code jumps on to the function"
    assert told in said[1], said
    assert "the call before it goes to the function below" in said[2], said

"""examples/orders.c, which the demo shows: one of its names is what a failed assertion says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from acceptance.helpers import name_twins
from acceptance.names.said_names import said
from oracles import nm_table
from oracles.tools import environment

from compilers.found import ROOT, Compiler, all_compilers

FLAGS = ("-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")

COLD = """#include <assert.h>
extern void __assert_fail(const char *, const char *, unsigned, const char *)
    __attribute__((cold)); /* as glibc declares it from 2.38 on */
"""


@pytest.mark.parametrize("compiler", all_compilers(), ids=lambda one: str(one.name))
def test_the_name_of_total_of(compiler: Compiler, tmp_path: Path) -> None:
    text = (ROOT / "examples/orders.c").read_text()
    for head in ("", COLD):
        source, made, twin = tmp_path / "orders.c", tmp_path / "orders.o", tmp_path / "orders"
        source.write_text(head + text)
        commands = [[compiler.c, *FLAGS, "-c", str(source), "-o", str(made)],
                    ["gcc", "-o", str(twin), str(made)]]  # fmt: skip
        for command in commands:
            subprocess.run(command, check=True, env=environment())
        true = {each.address for each in nm_table.symbols(twin) if each.name == "total_of"}
        found = said(name_twins.stripped(twin))
        assert {at for at, name in found.items() if name == "total_of"} == true
        assert set(found.values()) <= {"total_of", "total_of.cold"}

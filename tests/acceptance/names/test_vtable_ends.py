"""Where a virtual table ends: no word says so. The array of initializers may follow it, which holds
pointers to functions as well; which linker puts it there, and with how many slots, differs.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracles.linkers import LINKERS

from acceptance.helpers.name_twins import stripped
from whocall.base.native_module import native

SOURCE = """
struct Last { SLOTS int v; };
static int counter;
__attribute__((constructor)) static void first() { counter += 7; }
__attribute__((constructor)) static void second() { counter *= 3; }
Last *volatile one;
int main(int c, char **) { Last x; x.v = c; one = &x; return one->f0(c); }
"""


@pytest.mark.parametrize("slots", [2, 3])
@pytest.mark.parametrize("linker", LINKERS)
def test_initializers_are_in_no_class(linker: str, slots: int, tmp_path: Path) -> None:
    bodies = "".join(
        f"virtual int f{at}(int x) {{ return x * {at + 3} - v; }}" for at in range(slots)
    )
    twin = tmp_path / "twin"
    subprocess.run(
        ["g++", "-O1", "-fPIE", "-pie", f"-fuse-ld={linker}", "-x", "c++", "-", "-o", str(twin)],
        input=SOURCE.replace("SLOTS", bodies), text=True, check=True,
    )  # fmt: skip
    table = native.functions(str(stripped(twin)))
    names = [table[at][2] for at in range(len(table))]
    assert sum("init_array[" in name for name in names) == 3
    found = sorted(name for name in names if "[slot " in name)
    assert found == [f"Last::[slot {at}]" for at in range(slots)]

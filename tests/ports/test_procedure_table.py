"""Procedure descriptors of MIPS: where functions begin, held against the unstripped twin."""

from __future__ import annotations

import pytest
from oracles import nm_table

from ports.names import named
from whocall.base.native_module import native

MIPS = ("mips", "mipsel", "mips64el")


@pytest.mark.parametrize("name", MIPS)
def test_every_function_that_the_assembler_was_told_of(name: str) -> None:
    """The compiler tells of all its own; no descriptor is wrong."""
    twin, _ = named(name, "static")
    truth = {each.address for each in nm_table.symbols(twin, types=frozenset("tTW"))}
    found = {
        start
        for start, _, _, _, _, witnesses, _ in native.functions(str(twin.with_name("names")))
        if "pdr" in witnesses
    }
    assert found <= truth, [hex(each) for each in sorted(found - truth)]
    assert len(found) > 0.9 * len(truth), (len(found), len(truth))

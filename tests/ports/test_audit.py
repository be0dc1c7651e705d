"""The analysis held against the unwind tables of a cross compiler's own C and C++ libraries, of
sets for which the distribution has no other; `foreign/test_audit.py` has those of the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ports.sets import SETS
from whocall.base.native_module import native

LEAST_CALLS, LEAST_INSTRUCTIONS = 0.999, 0.996
"""Shares, in each file, of the places at which CFA and return address are those of the table."""


@pytest.mark.parametrize("library", ["libc.so.6", "libstdc++.so.6"])
@pytest.mark.parametrize("name", ["riscv64"])
def test_analysis_agrees_with_the_tables(name: str, library: str) -> None:
    audit = native.audit(str(Path(SETS[name].sysroot) / "lib" / library), difference_limit=0)
    for count, least in (
        (audit.calls, LEAST_CALLS),
        (audit.instructions, LEAST_INSTRUCTIONS),
    ):
        assert count.places > 3000
        assert count.return_address / count.places >= least, (name, library)

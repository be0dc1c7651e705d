"""The table of what works on which instruction set is what the programs show."""

from __future__ import annotations

from ports import ROOT
from ports.features import table


def test_the_table_of_the_page() -> None:
    """`python3 -m ports.features` prints it."""
    page = (ROOT / "docs" / "instruction-sets.md").read_text().splitlines()
    rows = table()
    at = page.index(rows[0])
    assert page[at : at + len(rows)] == rows

"""The README's table of what works on which instruction set is what the programs show."""

from __future__ import annotations

from ports import ROOT
from ports.features import table


def test_the_table_of_the_readme() -> None:
    """`python3 -m ports.features` prints it."""
    readme = (ROOT / "README.md").read_text().splitlines()
    rows = table()
    at = readme.index(rows[0])
    assert readme[at : at + len(rows)] == rows

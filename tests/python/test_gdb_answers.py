"""What gdb says of symbols, whose names may be made of the same words."""

from __future__ import annotations

import pytest

from whocall.base.gdb_answers import offset_told

OF = " in section .text of /x/prog\n"


@pytest.mark.parametrize(
    ("said", "name", "offset"),
    [
        (f"f + 12{OF}", "f", 12),
        (f"f{OF}", "f", 0),
        (f"n::f(int) const + 3{OF}", "n::f(int) const", 3),
        (f"f + 4096 in section .text + 12{OF}", "f + 4096 in section .text", 12),
        (f"f in section .text{OF}", "f in section .text", 0),
        (f"f + 12 in section + 5{OF}", "g", None),
        ("No symbol matches 0x1.\n", "f", None),
        (f"f + 99999999999999999999{OF}", "f", None),
        ("", "", None),
    ],
)
def test_how_far_behind_a_symbol(said: str, name: str, offset: int | None) -> None:
    assert offset_told(said, name) == offset

"""The crowd has as many threads as it says, each like the one it was copied from."""

from __future__ import annotations

from pathlib import Path

from oracles import eu_stack

from stock import kept_many_threads_core
from stock.crowd import crowd


def test_eu_stack_reads_a_crowd(tmp_path: Path) -> None:
    made = kept_many_threads_core(3)
    few = eu_stack.of_core(made.core, made.build.stripped)
    many = eu_stack.of_core(crowd(made.core, 5, tmp_path / "crowd"), made.build.stripped)
    assert many.complete
    assert len(many.pcs()) == 5 * len(few.pcs())
    assert sorted(many.pcs().values()) == sorted(5 * list(few.pcs().values()))

"""The walked stack of random programs beside the shadow stack that they keep.

No unwinder had a part in that, and it is there wherever a program dies, with tables and without.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tracing.lab import SHARED, build, run
from tracing.randomprograms import source
from whocall.base.process_image import Walk, open_core
from whocall.tracing.shadow import ShadowComparison, compare_with_trace
from whocall.tracing.source import trace_of

NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")


@dataclass(frozen=True)
class Variant:
    compiler: str
    flags: tuple[str, ...]
    seeds: Sequence[int]

    @property
    def name(self) -> str:
        return " ".join((self.compiler, *self.flags[:2]))


VARIANTS = [
    Variant("gcc", ("-O0",), range(2)),
    Variant("gcc", ("-O2",), range(2, 5)),
    Variant("gcc", ("-O1", *NO_TABLES), (5, 6, 7, 1002)),  # 1002: a callback behind a call of abort
    Variant("gcc", ("-O2", *NO_TABLES), (8, 9, 10, 1000)),  # 1000: entries behind calls of abort
    # 2023: in a prologue a push that is aligned, behind a byte like that of hlt
    Variant("gcc", ("-Os", "-fno-omit-frame-pointer", *NO_TABLES), (11, 12, 2023)),
    Variant("clang", ("-O1", *NO_TABLES), range(13, 15)),
    Variant("clang", ("-O2", *NO_TABLES), range(15, 17)),
]


def compared(folder: Path, variant: Variant, seed: int, walk: Walk) -> ShadowComparison:
    """A stripped program's stack. (In one that holds the library too, the optimized code of that
    has a say in how functions are aligned.)"""
    written = folder / f"random{seed}.c"
    written.write_text(source(seed))
    exe = build(folder, written, *variant.flags, compiler=variant.compiler, library=SHARED)
    subprocess.run(["strip", "-s", str(exe)], check=True)
    ran = run(exe)
    assert ran.core is not None
    with open_core(str(ran.core)) as image:
        (found,) = compare_with_trace(trace_of(image), image.report(None, walk).threads)
        list(found.trace.frames)
    return found


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_walked_stacks_are_those_that_were_called(tmp_path: Path, variant: Variant) -> None:
    total: Counter[str] = Counter()
    for seed in variant.seeds:
        found = compared(tmp_path, variant, seed, Walk(past_main=True))
        total += Counter(row.verdict for row in found.rows)
    assert total["same"] > 10 * len(variant.seeds)
    assert {verdict for verdict in total if verdict not in ("same", "inlined")} <= {"not recorded"}


def test_a_wrong_frame_is_seen(tmp_path: Path) -> None:
    """Without the strategy that knows these programs, the oracle contradicts."""
    walk = Walk(without=("analysis",), past_main=True)
    found = compared(tmp_path, VARIANTS[3], 8, walk)
    assert not found.agrees

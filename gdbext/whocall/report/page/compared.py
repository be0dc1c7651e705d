"""gdb's own backtrace beside whocall's, for a report."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from whocall.report.comparison.forms import compare_thread
from whocall.report.comparison.verdicts import first_divergence, summary
from whocall.report.form.jsonform import Json, hexes

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.report.comparison.verdicts import GdbStack


def compared_json(image: ProcessImage, trace: Backtrace, stack: GdbStack, most: int) -> Json:
    """One thread's rows, at most `most`; of ours their levels."""
    found = compare_thread(image, trace, stack)
    at = first_divergence(found.rows)
    return {
        "thread": trace.number,
        "rows": [
            {
                "verdict": row.verdict,
                "level": None if row.ours is None else row.ours.level,
                "gdb": None
                if row.gdbs is None
                else {
                    "level": row.gdbs.level,
                    "pc": hexes(row.gdbs.pc),
                    "function": row.gdbs.name,
                    "inlined": row.gdbs.inlined,
                    "signal_trampoline": row.gdbs.signal_trampoline,
                },
            }
            for row in found.rows[:most]
        ],
        "left_out": max(len(found.rows) - most, 0),
        "first_divergence": at,
        "explanation": found.explanation,
        "counts": asdict(found.counts),
        "summary": summary(found.rows, found.counts),
        "gdb_stop": stack.stop or None,
    }

"""The frames of all threads, each told once: threads share stacks, and stacks share places.

A place is all of a frame but what hangs on the stack it lies on: its level, its CFA, its registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whocall.report.backtrace.cycles import gaps
from whocall.report.backtrace.words import end_sentence, stop_line
from whocall.report.form.jsonform import Json, hexes, hints_json

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.report.page.code_names import CodeNames
    from whocall.report.page.limits import Budget

# Of Frame, in the order of _place_json's parameters.
_FIELDS = (
    *("pc", "function", "offset", "name_source", "inferred", "aliases", "module", "build_id"),
    *("rva", "trust", "rests_on", "evidence", "inlined", "interrupted", "signal_trampoline"),
    *("file", "line", "source_hints"),
)


def _place_json(values: Sequence[Any]) -> Json:
    held = dict(zip(_FIELDS, values))
    file, line = held.pop("file"), held.pop("line")
    hints = held.pop("source_hints")
    return {
        **held,
        "pc": hexes(held["pc"]),
        "rva": hexes(held["rva"]),
        "build_id": held["build_id"] or None,
        "aliases": list(held["aliases"]),
        "evidence": list(held["evidence"]),
        "source": None if file is None else {"file": file, "line": line},
        "source_hints": hints_json(hints),
        "listing": None,
    }


class Places:
    """Places by number, and stacks made of these."""

    def __init__(self, budget: Budget) -> None:
        self.places: list[Json] = []
        self.stacks: list[Json] = []
        self._budget = budget
        self._known: dict[tuple[Any, ...], int] = {}
        self._stacks: dict[object, int] = {}

    def stack_of(self, trace: Backtrace) -> int:
        """The number of the thread's stack, which may be that of others. What does not fit into
        the budget is cut off on the outside, and counted.
        """
        chain = [self._place(values) for values in trace.rows(*_FIELDS)]
        key = (tuple(chain), trace.stop.reason, trace.stop.detail)
        known = self._stacks.get(key)
        if known is not None:
            return known
        kept = chain
        if not self._budget.take(len(chain)):
            kept = chain[: self._budget.left]
            self._budget.take(len(kept))
        stop = stop_line(trace) or end_sentence(trace)
        self.stacks.append(
            {
                "frames": kept,
                "left_out": len(chain) - len(kept),
                "gaps": [
                    [gap.begin, gap.end, gap.period]
                    for gap in gaps(trace.frames)
                    if gap.end <= len(kept)
                ],
                "stop": {
                    "reason": trace.stop.reason,
                    "detail": trace.stop.detail or None,
                    "text": stop.strip("()"),
                },
            }
        )
        self._stacks[key] = len(self.stacks) - 1
        return len(self.stacks) - 1

    def _place(self, values: tuple[Any, ...]) -> int:
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = len(self.places)
            self.places.append(_place_json(values))
        return known


def list_instructions(
    image: ProcessImage,
    names: CodeNames,
    places: Sequence[Json],
    wanted: Sequence[int],
    budget: Budget,
) -> None:
    """Gives the wanted places the instructions around them, as far as the budget goes."""
    for number in wanted:
        place = places[number]
        if place["inlined"] or place["listing"] is not None or not budget.take():
            continue
        pc = int(place["pc"], 16)
        offset = place["offset"]
        start = None if offset is None else pc - offset
        rows = []
        for address, data, text, target in image.native.listing(pc, start):
            row: list[Any] = [hexes(address), data.hex(), text]
            if target is not None:
                row += [hexes(target), names.at(target)]
            rows.append(row)
        place["listing"] = rows

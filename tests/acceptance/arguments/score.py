"""Counts how much of what was handed over whocall tells, and how much of that is true."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import whocall
from acceptance.arguments.truth import Crash
from whocall import Search, backtrace_json


@dataclass
class Score:
    """Of some programs."""

    parameters: int = 0
    shown: Counter[str] = field(default_factory=Counter)  # by trust
    wrong: Counter[str] = field(default_factory=Counter)  # of these
    functions: int = 0
    counted: int = 0  # of these all their parameters are told
    overcounted: int = 0  # and of these more than they have
    faults: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of all parameters those whose value is told, in percent."""
        return 100 * self.shown.total() / max(1, self.parameters)

    def add(self, crash: Crash) -> None:
        """A program."""
        search = Search(sysroot=crash.sysroot)
        with whocall.open_core(str(crash.core), str(crash.stripped), search=search) as image:
            told = backtrace_json(image.report())
        for frame in told["threads"][0]["frames"]:
            name = _name_of(frame, crash)
            handed = crash.handed.get(int(frame["cfa"] or "0", 16))
            if name in crash.sizes and handed is not None and not frame["inlined"]:
                self._add_frame(frame, handed, crash.sizes[name], f"{crash.stripped} {name}")

    def _add_frame(
        self, frame: dict[str, Any], handed: list[int], sizes: list[int], where: str
    ) -> None:
        arguments = frame["arguments"] or []
        sizes = sizes[: len(handed)]
        self.functions += 1
        self.counted += len(arguments) == len(sizes)
        self.overcounted += len(arguments) > len(sizes)
        for position, size in enumerate(sizes):
            self.parameters += 1
            one = arguments[position] if position < len(arguments) else None
            if one is None or one["value"] is None:
                continue
            self.shown[one["trust"]] += 1
            bits = (1 << 8 * min(size, one["width"] or size)) - 1
            if int(one["value"], 16) & bits != handed[position] & bits:
                self.wrong[one["trust"]] += 1
                if one["trust"] != "now":  # which may have changed since, and says so
                    self.faults.append(f"{where}: {one}, true: {handed[position]:#x}")

    def __str__(self) -> str:
        surely = sum(self.wrong[trust] for trust in self.wrong if trust != "now")
        return (
            f"{self.share:5.1f} % of {self.parameters} shown ({dict(self.shown)}), sure and wrong "
            f"{surely}, now and wrong {self.wrong['now']}, count right {self.counted} of "
            f"{self.functions}, more than there are {self.overcounted}"
        )


def _name_of(frame: dict[str, Any], crash: Crash) -> str | None:
    if frame["rva"] is None or not (frame["module"] or "").endswith("/program"):
        return None
    place = int(frame["rva"], 16) - 1
    return next(
        (
            name
            for name, (start, size) in crash.functions.items()
            if start <= place < start + max(size, 1)
        ),
        None,
    )

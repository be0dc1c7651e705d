"""Which threads and calls of a trace are told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whocall.base.errors import Error, UsageError
from whocall.base.records import dataclass
from whocall.tracing.names import TraceNames
from whocall.tracing.source import OpenTrace


@dataclass(frozen=True)
class Choice:
    """What the user wants to see; empty: all."""

    threads: Sequence[int] = ()  # ids of the kernel's
    most_depth: int | None = None
    only: str = ""  # regular expression: these functions and what they call
    functions: str = ""  # regular expression: calls of these functions alone
    module: str = ""  # calls of functions in the file whose path ends so
    least_size: int | None = None  # calls of functions with so many bytes of code, or more
    longer: str = ""  # "10us": calls that took so long, or longer

    @property
    def shortest(self) -> int:
        """What `longer` says, in nanoseconds. Raises UsageError where that is no time."""
        if not self.longer:
            return 0
        found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,9})?) ?(ns|us|ms|s)", self.longer)
        if found is None:
            raise UsageError(f"{self.longer!r} is no time: write 500ns, 10us, 5ms or 1.5s")
        units = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
        return min(round(float(found[1]) * units[found[2]]), 2**63)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{text!r} is not a regular expression: {error}") from error


def _matching(names: TraceNames, text: str) -> set[int]:
    pattern = _pattern(text)
    found = {address for address, name in names.functions.items() if pattern.search(name)}
    if not found:
        raise Error(f"no function of the trace has a name that matches {text!r}")
    return found


def _of_module(names: TraceNames, module: str) -> set[int]:
    found = {
        address
        for address, path in names.modules.items()
        if path == module or path.endswith("/" + module.lstrip("/"))
    }
    if not found:
        raise Error(f"no function of the trace lies in a file whose path ends with {module}")
    return found


def _of_size(names: TraceNames, least: int) -> set[int]:
    found = {address for address, size in names.sizes.items() if size >= least}
    if not found:
        raise Error(f"no function of the trace is known to have {least:,} bytes or more")
    return found


def chosen_threads(trace: OpenTrace, choice: Choice) -> list[int]:
    """Indices of the threads. Raises Error for one that the trace does not have."""
    tids = [thread.tid for thread in trace.threads]
    for tid in choice.threads:
        if tid not in tids:
            raise Error(f"thread {tid} is not in the trace; it has {', '.join(map(str, tids))}")
    return [at for at, tid in enumerate(tids) if not choice.threads or tid in choice.threads]


def chosen_functions(names: TraceNames, choice: Choice) -> tuple[set[int] | None, set[int] | None]:
    """First bytes of the functions to begin at, and of those that are shown; None: all."""
    roots = _matching(names, choice.only) if choice.only else None
    shown = _matching(names, choice.functions) if choice.functions else None
    if choice.module:
        in_module = _of_module(names, choice.module)
        shown = in_module if shown is None else shown & in_module
    if choice.least_size is not None:
        large = _of_size(names, choice.least_size)
        shown = large if shown is None else shown & large
    return roots, shown

"""A trace as a call tree, as tables of counts and times, as JSON, as folded stacks."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from whocall.base.printable import printable
from whocall.base.records import dataclass
from whocall.report.form.style import Style
from whocall.tracing.choice import Choice, chosen_functions, chosen_threads
from whocall.tracing.names import TraceNames, names_of
from whocall.tracing.source import OpenTrace

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native


@dataclass(frozen=True)
class Telling:
    """A trace with the names of its functions, and what of it is wanted."""

    trace: OpenTrace
    names: TraceNames
    threads: list[int]  # indices
    most_depth: int | None
    roots: set[int] | None
    shown: set[int] | None
    shortest: int  # nanoseconds

    def profile(self) -> native.TraceProfile:
        """Counts and times of the wanted calls."""
        return self.trace.data.profile(*self._arguments())

    def json(self) -> Iterator[str]:
        """In the Trace Event Format, for Perfetto and chrome://tracing; large pieces."""
        return self.trace.data.json(*self._arguments())

    def tree(self, style: Style, part: tuple[list[int], int, bool] | None = None) -> Iterator[str]:
        """The calls, indented; large pieces of whole lines. `part`: of each thread from its event
        of that number on, times since that moment, and whether it goes on behind the end.
        """
        roles = ("function", "metadata", "highlight")
        codes = [style.codes.get(role, "") for role in roles]
        paint = [f"\x1b[{code}m" if code else "" for code in codes]
        paint.append("\x1b[0m" if any(codes) else "")
        return self.trace.data.text(*self._arguments(), paint=paint, part=part or ([], 0, False))

    def _arguments(
        self,
    ) -> tuple[
        list[int], dict[int, str], dict[int, str], int | None, set[int] | None, set[int] | None, int
    ]:
        names = self.names
        return (self.threads, names.functions, names.call_sites, self.most_depth, self.roots,
                self.shown, self.shortest)  # fmt: skip


def telling_of(
    trace: OpenTrace, choice: Choice, demangle: bool = True, known: TraceNames | None = None
) -> Telling:
    """Names all that the trace holds, and is not `known` by a name already. Raises Error where
    nothing is what `choice` names.
    """
    names = names_of(
        trace.image,
        trace.data.functions,
        trace.data.call_sites,
        demangle,
        inside=any(thread.sees_no_returns for thread in trace.threads),
        known=known,
    )
    if any(thread.sees_no_returns for thread in trace.threads):
        trace.data.tell_homes(names.homes)
    threads = chosen_threads(trace, choice)
    functions = chosen_functions(names, choice)
    return Telling(trace, names, threads, choice.most_depth, *functions, choice.shortest)


def duration(nanoseconds: int) -> str:
    """`120 ns`, `1.234 us`, `15.020 ms`, `2.100 s`."""
    for unit, name in ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")):
        if nanoseconds >= unit:
            return f"{nanoseconds // unit}.{nanoseconds % unit * 1000 // unit:03} {name}"
    return f"{nanoseconds} ns"


def thread_lines(telling: Telling, style: Style) -> Iterator[str]:
    """A line for each thread: what its ring holds, and what it has lost."""
    for index in telling.threads:
        thread = telling.trace.threads[index]
        kept = thread.events - thread.lost
        name = f" {printable(thread.name)}" if thread.name else ""
        lost = f", {thread.lost:,} older ones lost" if thread.lost else ""
        state = "" if thread.lives else ", ended"
        returns = f"{thread.returns:,} returns"
        if thread.sees_no_returns:
            returns = "whose returns are not seen: each took less than is told"
        deep = f", {len(thread.stack):,} deep now" if thread.lives and thread.stack else ""
        yield style.paint(
            "title",
            f"Thread {thread.tid}{name}{state}: {kept:,} events in a ring of"
            f" {thread.ring_capacity:,}{lost}; {thread.calls:,} calls, {returns}{deep}",
        )


def profile_lines(telling: Telling, style: Style) -> Iterator[str]:
    """The flat profile: a line for each function, by the time in itself."""
    rows = telling.profile().functions
    whole = sum(row[3] for row in rows) or 1
    yield style.paint("title", f"{'self':>12} {'':>6} {'total':>12} {'calls':>12}  function")
    for function, calls, total, own in sorted(rows, key=itemgetter(3, 1), reverse=True):
        name = style.paint("function", telling.names.functions[function])
        share = f"{own * 100 / whole:.1f}%"
        yield f"{duration(own):>12} {share:>6} {duration(total):>12} {calls:>12,}  {name}"


def _callers(telling: Telling) -> dict[str, dict[str, tuple[int, int]]]:
    """Calls and times by callee and caller."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for place, inlined, callee, calls, total in telling.profile().edges:
        names = telling.names.functions if inlined else telling.names.callers
        caller = names.get(place, f"{place:#x}")
        by_caller = found.setdefault(telling.names.functions[callee], {})
        before = by_caller.get(caller, (0, 0))
        by_caller[caller] = before[0] + calls, before[1] + total
    return found


def _rows(mark: str, rows: dict[str, tuple[int, int]], style: Style) -> Iterator[str]:
    for name, (calls, total) in sorted(rows.items(), key=itemgetter(1), reverse=True):
        yield f"{calls:>14,} {duration(total):>12}  {mark} {style.paint('function', name)}"


def caller_lines(telling: Telling, style: Style) -> Iterator[str]:
    """Each function under its callers and above its callees, with calls and times."""
    callers = _callers(telling)
    callees: dict[str, dict[str, tuple[int, int]]] = {}
    for callee, by_caller in callers.items():
        for caller, counts in by_caller.items():
            callees.setdefault(caller, {})[callee] = counts
    sums = {
        name: (sum(row[0] for row in rows.values()), sum(row[1] for row in rows.values()))
        for name, rows in callers.items()
    }
    order = sorted(sums, key=lambda name: sums[name][1], reverse=True)
    for at, name in enumerate(order):
        if at:
            yield ""
        yield from _rows("<-", callers[name], style)
        calls, total = sums[name]
        yield style.paint("title", f"{calls:>14,} {duration(total):>12}  {name}")
        yield from _rows("->", callees.get(name, {}), style)


def stack_lines(telling: Telling, style: Style) -> Iterator[str]:
    """The live shadow stack of each thread, innermost activation first."""
    for at, index in enumerate(telling.threads):
        thread = telling.trace.threads[index]
        if at:
            yield ""
        name = f" {printable(thread.name)}" if thread.name else ""
        state = "" if thread.lives else ", ended; what it was in then"
        yield style.paint("title", f"Thread {thread.tid}{name}{state}:")
        if thread.overflow:
            yield f"    {thread.overflow:,} activations more than the shadow stack holds"
        for level, (function, site, *_) in enumerate(reversed(thread.stack)):
            called = style.paint("function", telling.names.functions[function])
            yield f"#{level:<3} {called}  <- {printable(telling.names.call_sites[site])}"
        if not thread.stack:
            yield "    in no instrumented function"

"""Why gdb left the true chain: one paragraph on the first frame where the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whocall.compare import BEYOND, GdbFrame, Row, first_divergence
from whocall.model import Frame


def _label(frame: Frame) -> str:
    return f"#{frame.level} {frame.function or '??'} ({frame.pc:#x})"


def _next_ours(rows: Sequence[Row], at: int) -> Frame | None:
    return next((row.ours for row in rows[at:] if row.ours and not row.ours.inlined), None)


def _next_gdbs(rows: Sequence[Row], at: int) -> GdbFrame | None:
    return next((row.gdbs for row in rows[at:] if row.gdbs and not row.gdbs.inlined), None)


def _cause(last: Row, caller: Frame | None, states: Mapping[str, str]) -> str:
    """What gdb lacked at the last frame that both have; `states` are the modules' by path."""
    ours = last.ours
    assert ours is not None
    if ours.module is None:
        return f"{ours.pc:#x} lies in no module, so gdb had neither an unwind table nor a symbol"
    state = states.get(ours.module, "found")
    if state == "MISMATCH":
        return f"{ours.module} on disk is another build than the one in memory, and gdb used it"
    if state == "missing":
        return f"the file of {ours.module} is missing, so gdb had neither tables nor symbols"
    if caller is not None and caller.trust == "cfi":
        return "an unwind table covers it, but gdb did not get along with it"
    if last.gdbs is not None and last.gdbs.name is not None:
        return (
            "no unwind table covers it, so gdb guessed the frame's layout from the first "
            f"instructions of {last.gdbs.name}"
        )
    return "no unwind table covers it, and gdb knows no function start there"


def _deed(last: Row, gdbs: GdbFrame | None, stop: str, word_at_sp: int | None) -> str:
    if gdbs is None:
        return f"it stopped ({stop})" if stop else "it stopped"
    named = last.gdbs is not None and last.gdbs.name is not None
    if not named and word_at_sp is not None and word_at_sp == gdbs.pc:
        return f"it took the word at the stack pointer, {gdbs.pc:#x}, for the return address"
    return f"it went on at {gdbs.pc:#x}, which is not the caller"


def explain(
    rows: Sequence[Row],
    stop: str = "",
    states: Mapping[str, str] | None = None,
    word_at_sp: int | None = None,
) -> str | None:
    """The sentence on the first divergence; None when the chains agree.

    `stop` is gdb's reason for stopping, `states` maps module paths to their states, `word_at_sp`
    is the word at the stack pointer of the last common frame when it is known.
    """
    at = first_divergence(rows)
    if at is None:
        return None
    last = next((row for row in reversed(rows[:at]) if row.ours and row.gdbs), None)
    if last is None or last.ours is None:
        return "The two do not even agree on the innermost frame: the registers differ."
    if rows[at].verdict == BEYOND:
        return f"After {_label(last.ours)} whocall found no caller that it trusts; gdb went on."
    caller = _next_ours(rows, at)
    gdbs = _next_gdbs(rows, at)
    if caller is None:
        end = f"After {_label(last.ours)} the stack ends, and gdb went on"
        return f"{end} at {gdbs.pc:#x}." if gdbs else f"{end}."
    if gdbs is not None and any(row.gdbs is gdbs and row.ours for row in rows):
        deed = f"it left out frames and went on at {gdbs.pc:#x}"
    else:
        deed = _deed(last, gdbs, stop, word_at_sp)
    cause = _cause(last, caller, states or {})
    truth = f"the caller is {caller.function or '??'} ({caller.pc:#x}), {caller.trust}"
    return f"After {_label(last.ours)} gdb went wrong: {cause}; {deed}. In truth {truth}."


def last_common(rows: Sequence[Row]) -> Row | None:
    """The last row before the chains part that both have."""
    at = first_divergence(rows)
    before = rows if at is None else rows[:at]
    return next((row for row in reversed(before) if row.ours and row.gdbs), None)

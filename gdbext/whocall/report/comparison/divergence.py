"""Why gdb left the true chain: one paragraph on the first frame where the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whocall.base.model import Frame
from whocall.report.comparison.verdicts import UNPROVEN, GdbFrame, Row, first_divergence, is_sure


def _label(frame: Frame) -> str:
    return f"#{frame.level} {frame.shown} ({frame.pc:#x})"


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
    if ours.signal_trampoline:
        return "it is the kernel's signal frame, and gdb did not recognise it"
    if caller is not None and caller.trust == "cfi":
        return "an unwind table covers it, but gdb did not get along with it"
    if caller is not None and not is_sure(caller):
        return "no unwind table and no instruction leads from it to a caller"
    if last.gdbs is not None and last.gdbs.name is not None:
        return (
            "no unwind table leads on from it, so gdb guessed the frame's layout from the first "
            f"instructions of {last.gdbs.name}"
        )
    return "no unwind table leads on from it, and gdb knows no function start there"


def _deed(last: Row, gdbs: GdbFrame | None, stop: str, word_at_sp: int | None) -> str:
    if gdbs is None:
        return f"it stopped ({stop})" if stop else "it stopped"
    named = last.gdbs is not None and last.gdbs.name is not None
    if not named and word_at_sp is not None and word_at_sp == gdbs.pc:
        return f"it took the word at the stack pointer, {gdbs.pc:#x}, for the return address"
    return f"it went on at {gdbs.pc:#x}"


def explain(
    rows: Sequence[Row],
    stop: str = "",
    states: Mapping[str, str] | None = None,
    word_at_sp: int | None = None,
    gave_up: bool = False,
) -> str | None:
    """The sentences on the first divergence; None when the chains agree.

    `stop` is gdb's reason for stopping, `states` maps module paths to their states, `word_at_sp`
    is the word at the stack pointer of the last common frame when it is known, `gave_up` says that
    whocall's chain ends before the stack does.
    """
    at = first_divergence(rows)
    if at is None:
        return None
    last = next((row for row in reversed(rows[:at]) if row.ours and row.gdbs), None)
    if last is None or last.ours is None:
        return "The two do not even agree on the innermost frame: the registers differ."
    after = f"After {_label(last.ours)}"
    caller = _next_ours(rows, at)
    gdbs = _next_gdbs(rows, at)
    if caller is None:
        end = "whocall found no caller that it trusts" if gave_up else "there is no caller"
        return f"{after} {end}, and gdb went on{f' at {gdbs.pc:#x}' if gdbs else ''}."
    found = f"{caller.shown} ({caller.pc:#x}), {caller.trust}"
    if rows[at].verdict == UNPROVEN:
        return (
            f"{after} whocall went on at {found}, and may have passed over frames: what gdb shows "
            "between the two is unproven."
        )
    if gdbs is not None and any(row.gdbs is gdbs and row.ours for row in rows):
        deed = f"it left out frames and went on at {gdbs.pc:#x}"
    else:
        deed = _deed(last, gdbs, stop, word_at_sp)
    cause = _cause(last, caller, states or {})
    truth = "In truth the caller is" if is_sure(caller) else "whocall went on at"
    return f"{after} gdb went wrong: {cause}; {deed}. {truth} {found}."


def last_common(rows: Sequence[Row]) -> Row | None:
    """The last row before the chains part that both have."""
    at = first_divergence(rows)
    before = rows if at is None else rows[:at]
    return next((row for row in reversed(before) if row.ours and row.gdbs), None)

"""The walked stack held against the shadow stack that a traced program keeps of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.base.architecture import architecture
from whocall.base.errors import Error
from whocall.base.model import Backtrace, Frame
from whocall.base.records import dataclass
from whocall.report.backtrace.words import describe_function, trust_words
from whocall.report.comparison.align import align
from whocall.report.comparison.verdicts import is_real_name, plain_name
from whocall.report.form.jsonform import Json, frame_json, hexes
from whocall.report.form.style import Style
from whocall.tracing.names import Namer
from whocall.tracing.source import OpenTrace

SAME = "same"
INLINED = "inlined"  # its function has no frame of its own
OTHER = "other function"  # the frame is there, and whocall takes it for another function's
MISSING = "missing"  # whocall does not have it
FALSE = "false"  # whocall has a frame of an instrumented function that was not called
UNRECORDED = "not recorded"  # of a function without hooks, or before its hook or behind it
VERDICTS = (SAME, INLINED, OTHER, MISSING, FALSE, UNRECORDED)


@dataclass(frozen=True)
class Activation:
    """An entry of the shadow stack; runtime addresses."""

    function: int
    call_site: int
    cfa: int
    name: str
    inlined: bool


@dataclass(frozen=True)
class ShadowRow:
    """A line of the comparison; one of the two may be None."""

    verdict: str
    ours: Frame | None
    shadow: Activation | None


@dataclass(frozen=True)
class ShadowComparison:
    """One thread compared, innermost frame first."""

    trace: Backtrace
    rows: Sequence[ShadowRow]

    def count(self, *verdicts: str) -> int:
        """How many lines have one of these verdicts."""
        return sum(row.verdict in verdicts for row in self.rows)

    @property
    def agrees(self) -> bool:
        """Whether nothing contradicts the shadow stack."""
        return self.count(OTHER, MISSING, FALSE) == 0


def activations(trace: OpenTrace, lwp: int, namer: Namer) -> list[Activation]:
    """The live entries of a thread, innermost first. Raises Error when it has none."""
    for thread in trace.threads:
        if thread.lives and thread.tid == lwp:
            break
    else:
        raise Error(f"thread {lwp} keeps no shadow stack: it called no instrumented function")
    if thread.sees_no_returns:
        raise Error(
            f"the shadow stack of thread {lwp} proves nothing: the program was compiled with -pg,"
            " whose hooks see no returns; compile it with -finstrument-functions"
        )
    found: list[Activation] = []
    outer = 0
    for function, site, _, cfa in thread.stack:
        name = namer.function(namer.place(function))
        found.append(Activation(function, site, cfa, name, site == outer and bool(found)))
        outer = site
    return found[::-1]


def _really_inlined(found: Sequence[Activation]) -> list[Activation]:
    """Of equal call sites only those of one frame: a recursion has frames of its own."""
    kept = []
    for at, each in enumerate(found):
        outer = found[at + 1] if at + 1 < len(found) else None
        same_frame = outer is not None and each.inlined and outer.cfa == each.cfa
        kept.append(Activation(each.function, each.call_site, each.cfa, each.name, same_frame))
    return kept


def _is_of(frame: Frame, shadow: Activation) -> bool:
    """Whether the frame's function is the activation's: they begin at one address, or have one name
    but for the part that the compiler moved away (`f.cold`), which in stripped files has none.
    """
    if not is_real_name(frame.function) or frame.function is None:
        return True
    if frame.offset is not None and frame.pc - frame.offset == shadow.function:
        return True
    wanted = plain_name(shadow.name.partition(" [")[0])
    return any(plain_name(name) == wanted for name in (frame.function, *frame.aliases))


def compare_shadow(
    trace: Backtrace, shadow: Sequence[Activation], instrumented: set[int], exact: bool
) -> ShadowComparison:
    """Pairs frames with activations by where these return to, and on `exact` machines by where
    their frames end. `instrumented`: first bytes of functions that are known to have hooks.
    """
    frames = [frame for frame in trace.frames if not frame.inlined]
    entries = _really_inlined(shadow)
    physical = [at for at, each in enumerate(entries) if not each.inlined]
    keys = [(after.pc, frame.cfa if exact else 0) for frame, after in zip(frames, frames[1:])]
    pairs = align(
        keys, [(entries[at].call_site, entries[at].cfa if exact else 0) for at in physical]
    )
    rows: list[ShadowRow] = []
    a = b = 0
    for frame_at, index in [*pairs, (len(frames), len(physical))]:
        entry_at = physical[index] if index < len(physical) else len(entries)
        begun = b > 0  # a hook ran further in: those of frames around it did too
        for frame in frames[a:frame_at]:
            start = None if frame.offset is None else frame.pc - frame.offset
            wrong = begun and start in instrumented and frame_at < len(frames)
            rows.append(ShadowRow(FALSE if wrong else UNRECORDED, frame, None))
        for entry in entries[b:entry_at]:
            rows.append(ShadowRow(INLINED if entry.inlined else MISSING, None, entry))
        if frame_at < len(frames):
            frame, entry = frames[frame_at], entries[entry_at]
            verdict = SAME if _is_of(frame, entry) else OTHER
            rows.append(ShadowRow(verdict, frame, entry))
        a, b = frame_at + 1, entry_at + 1
    return ShadowComparison(trace, rows)


def compare_with_trace(
    opened: OpenTrace, traces: Sequence[Backtrace], demangle: bool = True
) -> list[ShadowComparison]:
    """Each of these walked stacks beside the shadow stack of its thread. Raises Error when there
    is only one and its thread has none.
    """
    namer = Namer(opened.image, demangle)
    instrumented = set(opened.data.functions)
    # Where calls push the return address, frames end exactly behind it, in both.
    exact = architecture(opened.image.arch).calls_push
    known = {thread.tid for thread in opened.threads if thread.lives}
    found = []
    for trace in traces:
        if len(traces) > 1 and trace.lwp not in known:
            continue
        shadow = activations(opened, trace.lwp, namer)
        found.append(compare_shadow(trace, shadow, instrumented, exact))
    return found


def summary(found: ShadowComparison) -> str:
    """`whocall has 5 of the shadow stack's 5 activations, and no frame that contradicts it.`"""
    all_of = found.count(SAME, INLINED, OTHER, MISSING)
    have = found.count(SAME, INLINED)
    text = f"whocall has {have} of the shadow stack's {all_of} activations"
    wrong = [
        f"{found.count(verdict)} {words}"
        for verdict, words in (
            (MISSING, "missing"),
            (OTHER, "taken for another function"),
            (FALSE, "frames more than were called"),
        )
        if found.count(verdict)
    ]
    return f"{text}: {', '.join(wrong)}." if wrong else f"{text}, and no frame that contradicts it."


def _ours_text(frame: Frame | None, digits: int) -> str:
    if frame is None:
        return "-"
    if frame.signal_trampoline:
        return f"#{frame.level:<2} <signal handler called> {trust_words(frame)}"
    name, behind = describe_function(frame)
    return f"#{frame.level:<2} {frame.pc:#0{digits + 2}x} {name}{behind} {trust_words(frame)}"


def shadow_lines(found: ShadowComparison, pointer_size: int, style: Style) -> Iterator[str]:
    """The rows under a heading, and the counts."""
    ours = [_ours_text(row.ours, pointer_size * 2) for row in found.rows]
    column = min(max(map(len, ours), default=0), 72)
    yield style.paint("title", f"{'verdict':<15} {'whocall':<{column}} shadow stack")
    for row, text in zip(found.rows, ours):
        role = "highlight" if row.verdict in (OTHER, MISSING, FALSE) else "metadata"
        shadow = "-" if row.shadow is None else style.paint("function", row.shadow.name)
        yield f"{style.paint(role, f'{row.verdict:<15}')} {text:<{column}} {shadow}"
    yield style.paint("title", summary(found))


def shadow_json(opened: OpenTrace, threads: Sequence[ShadowComparison]) -> Json:
    """All compared threads, schema whocall.shadow/1."""
    image = opened.image
    return {
        "schema": "whocall.shadow/1",
        "arch": image.arch,
        "source": {"core": image.core_path, "exe": image.exe_path},
        "warnings": list(opened.warnings),
        "threads": [_thread_json(found) for found in threads],
    }


def _thread_json(found: ShadowComparison) -> Json:
    return {
        "number": found.trace.number,
        "lwp": found.trace.lwp,
        "name": found.trace.name or None,
        "rows": [
            {
                "verdict": row.verdict,
                "whocall": None if row.ours is None else frame_json(row.ours),
                "shadow": None if row.shadow is None else _activation_json(row.shadow),
            }
            for row in found.rows
        ],
        "counts": {verdict.replace(" ", "_"): found.count(verdict) for verdict in VERDICTS},
        "agrees": found.agrees,
    }


def _activation_json(shadow: Activation) -> Json:
    return {
        "function": shadow.name,
        "start": hexes(shadow.function),
        "call_site": hexes(shadow.call_site),
        "inlined": shadow.inlined,
    }

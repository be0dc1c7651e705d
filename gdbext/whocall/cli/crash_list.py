"""What `whocall serve` tells of each crash in a directory beside its file, and the buckets of all.

A look at a core happens in a process of its own (`isolated.py`); what it says is plain data.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from whocall.base.cut_files import whole_files
from whocall.base.errors import Error
from whocall.base.long_work import left_out
from whocall.base.process_image import Walk
from whocall.base.signals import signal_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whocall.cli.arguments import Values

Json = dict[str, Any]


@dataclass(frozen=True)
class Glance:
    """What was seen of a core."""

    program: str = ""
    signal: str = ""
    sentence: str = ""  # what happened
    time: float | None = None  # of the crash, where its reporter noted it; seconds since 1970
    crash: Json | None = None  # as `whocall triage` keeps it; None where that is not known
    trouble: str = ""  # why it cannot be read


def glance_of(said: Any) -> Glance:
    """Of what a process says that read the core, which may be anything. Raises Error."""
    if not isinstance(said, dict):
        raise Error("the process that read it says what none of ours does")
    from whocall.triage.told_crash import crash_or_none

    time = said.get("time")
    return Glance(
        program=str(said.get("program", "")),
        signal=str(said.get("signal", "")),
        sentence=str(said.get("sentence", "")),
        time=time if isinstance(time, float) and isfinite(time) else None,
        crash=crash_or_none(said.get("crash")),
    )


def seen(path: str, arguments: Values) -> Json:
    """The fields of a Glance at the core `path`. Raises Error."""
    from whocall.cli.inputs import open_named_core
    from whocall.dumps.origin import known
    from whocall.report.causes.happened import program_name, what_happened
    from whocall.triage.examine import MOST_FRAMES, crash_of
    from whocall.triage.facts import Facts
    from whocall.triage.opening import seconds_of

    with whole_files(), open_named_core(path, "", arguments) as image:
        if not image.threads:
            return {"program": program_name(image)}
        index = image.index_of_crash()
        trace = image.backtrace(index, Walk(past_main=True, max_frames=MOST_FRAMES))
        thread = image.threads[index]
        signal = signal_name(image.arch, thread.signal) if thread.crashed else None
        found = {
            "program": program_name(image),
            "signal": signal or "",
            "sentence": what_happened(image, index, trace)["sentence"],
            "time": seconds_of(known(image.origin)),
            "crash": crash_of(image, index, trace, Facts(None)),
        }
    left_out()  # a report of it tells that
    return found


def buckets_of(glances: Mapping[str, tuple[Glance, float]]) -> tuple[list[Json], dict[str, str]]:
    """The buckets of crashes by their names, beside each of which stands its time; and in which of
    them, by its id, each is.
    """
    from whocall.triage.store import Store
    from whocall.triage.summary import summarize

    store = Store("")
    try:
        signatures = {}
        for name, (glance, time) in glances.items():
            if glance.crash is not None:
                signatures[name] = glance.crash["signature"]
                store.add(_row(name, glance.crash, time))
        buckets, numbers = summarize(store)
    except Error:  # what a core made of a crash is none that a store keeps
        return [], {}
    finally:
        store.close()
    ids = {signature: buckets[number]["id"] for signature, number in numbers.items()}
    return buckets, {name: ids[signature] for name, signature in signatures.items()}


def _row(name: str, crash: Json, time: float) -> Json:
    frames = crash["frames"]
    module = frames[0]["module"] if frames else crash["called"]
    nothing: Iterable[str] = ("size", "mtime", "engine", "host", "cost", "reason")
    return {**dict.fromkeys(nothing), **crash, "path": name, "time": time, "module": module}

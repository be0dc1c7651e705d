"""What a report holds, as JSON, schema whocall.report/1: the page shows this and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.process_image import Walk
from whocall.base.timestamps import moment
from whocall.base.version import __version__
from whocall.dumps.origin import known
from whocall.report.causes.happened import happened_on_page
from whocall.report.form.jsonform import Json
from whocall.report.page.code_names import CodeNames
from whocall.report.page.compared import compared_json
from whocall.report.page.details import Details
from whocall.report.page.limits import Budget, Limits
from whocall.report.page.places import Places, list_instructions
from whocall.report.page.words import mappings_json
from whocall.report.tables.modules import all_facts, modules_json, on_the_command_line

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.report.comparison.verdicts import GdbStack
    from whocall.report.tables.modules import Advice

    GdbStacks = Callable[[ProcessImage, Sequence[int]], dict[int, GdbStack]]
    Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class PageOptions:
    """How a report is made. `gdb_stacks(image, lwps)` gives gdb's own frames, and raises Error
    where it cannot; without it there is no comparison. `tell(what, share)` hears of the progress:
    what is done now, and what share of the whole was done before, 0 to 1. `first` is the index of
    the thread to show first, where that is not the one that crashed, and `numbers` are what to call
    threads by, their own where one is not among those. `advice` says how to get what is missing.
    """

    title: str = ""
    walk: Walk = field(default_factory=lambda: Walk(past_main=True))
    gdb_stacks: GdbStacks | None = None
    asks_debuginfod: bool = False
    advice: Advice | None = None
    first: int | None = None
    numbers: Mapping[int, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    tell: Tell = lambda what, share: None


def _written(image: ProcessImage) -> str | None:
    """When the core's file was last written to, which is when it was made or copied."""
    try:
        seconds = Path(image.core_path or "").stat().st_mtime if image.core_path else None
    except OSError:
        return None
    return None if seconds is None else moment(seconds, "%Y-%m-%d %H:%M:%S UTC")


def _groups(traces: Sequence[Backtrace], stacks: Sequence[int]) -> list[Json]:
    """Threads by stack, in the order of their first ones; the crashed thread alone and in front."""
    members: dict[tuple[int, bool], list[int]] = {}
    for at, (trace, stack) in enumerate(zip(traces, stacks)):
        members.setdefault((stack, trace.crashed), []).append(at)
    ordered = sorted(members.items(), key=lambda item: not item[0][1])
    return [{"stack": stack, "threads": threads} for (stack, _), threads in ordered]


class _Crash:
    """One process image on its way into a report."""

    def __init__(self, image: ProcessImage, options: PageOptions) -> None:
        self._image = image
        self._options = options
        self._left_out: list[str] = []

    def json(self) -> Json:
        image, options, limits = self._image, self._options, self._options.limits
        options.tell("walking the stacks", 0.0)
        report = image.report(walk=options.walk, numbers=options.numbers)
        traces = report.threads
        frames = Budget(limits.frames)
        places = Places(frames)
        stacks = [places.stack_of(trace) for trace in traces]
        if frames.refused:
            self._left_out.append(f"{frames.refused:,} frames of long stacks")
        groups = _groups(traces, stacks)
        main = image.index_of_crash() if options.first is None else options.first
        options.tell("reading registers and stacks", 0.4)
        names = CodeNames(image, places.places)
        details = self._details(traces, groups, main, names)
        options.tell("disassembling", 0.6)
        self._list(places, stacks[main], groups, names)
        options.tell("looking at the modules", 0.7)
        advice = options.advice or on_the_command_line(options.asks_debuginfod)
        modules = modules_json(image, all_facts(image), advice)
        happened = happened_on_page(image, main, traces[main])
        options.tell("asking gdb", 0.8)
        return {
            "source": {"core": image.core_path, "exe": image.exe_path},
            "origin": known(image.origin),
            "written": _written(image),
            "arch": image.arch,
            "pointer_size": image.pointer_size,
            "word_size": image.word_size,
            "byte_order": image.byte_order,
            "pid": image.native.pid,
            "happened": happened,
            "main": main,
            "places": places.places,
            "stacks": places.stacks,
            "threads": [
                {
                    "number": trace.number,
                    "lwp": trace.lwp,
                    "name": trace.name or None,
                    "crashed": trace.crashed,
                    "signal": trace.signal,
                    "stack": stack,
                }
                for trace, stack in zip(traces, stacks)
            ],
            "groups": groups,
            "details": details,
            "comparison": self._comparison(traces[main]),
            "modules": modules["modules"],
            "jit_objects": modules["jit_objects"],
            "mappings": mappings_json(image),
            "warnings": list(dict.fromkeys([*report.warnings, *modules["warnings"]])),
            "left_out": self._left_out,
        }

    def _details(
        self,
        traces: Sequence[Backtrace],
        groups: Sequence[Json],
        main: int,
        names: CodeNames,
    ) -> list[Json]:
        limits = self._options.limits
        words = Budget(limits.words)
        closer = Details(self._image, self._options.walk, limits, names, words)
        found = [closer.of_thread(main, traces[main], limits.innermost, limits.outermost)]
        others = [group["threads"][0] for group in groups if main not in group["threads"]]
        for index in others[: limits.others]:
            found.append(closer.of_thread(index, traces[index], limits.others_frames, 0))
        if words.refused:
            self._left_out.append(f"{words.refused:,} words of stacks")
        if len(others) > limits.others:
            count = len(others) - limits.others
            self._left_out.append(f"registers and stack words of {count:,} further stacks")
        return found

    def _list(self, places: Places, main: int, groups: Sequence[Json], names: CodeNames) -> None:
        budget = Budget(self._options.limits.listings)
        for stack in [main, *(group["stack"] for group in groups)]:
            wanted = list(dict.fromkeys(places.stacks[stack]["frames"]))
            list_instructions(self._image, names, places.places, wanted, budget)
        if budget.refused:
            self._left_out.append(f"the instructions around {budget.refused:,} places")

    def _comparison(self, trace: Backtrace) -> Json | None:
        from whocall.base.errors import Error

        ask = self._options.gdb_stacks
        if ask is None:
            return None
        if len(trace.frames) > self._options.limits.asked_of_gdb:
            self._left_out.append(
                f"gdb's own backtrace, which takes it long for {len(trace.frames):,} frames: "
                "`whocall compare CORE`"
            )
            return None
        try:
            stack = ask(self._image, [trace.lwp])[trace.lwp]
        except Error as error:
            self._left_out.append(f"gdb's own backtrace: {error}")
            return None
        return compared_json(self._image, trace, stack, self._options.limits.compared)


def crash_json(image: ProcessImage, options: PageOptions) -> Json:
    """All that the page shows of one process image."""
    return _Crash(image, options).json()


def document(
    images: Iterable[ProcessImage], options: PageOptions, unread: Iterable[Exception] = ()
) -> Json:
    """A report on one or more process images, which are looked at one after the other. `unread`
    tells, when that is done, what is wrong with those that could not be.
    """
    crashes = [crash_json(image, options) for image in images]
    for crash in crashes[:1]:
        crash["left_out"] += [str(error).rstrip(".") for error in unread]
    return {
        "schema": "whocall.report/1",
        "generator": {"name": "whocall", "version": __version__},
        "title": options.title or _title(crashes),
        "crashes": crashes,
    }


def _title(crashes: Sequence[Json]) -> str:
    if len(crashes) == 1:
        happened = crashes[0]["happened"]
        return f"{happened['program']}: {happened['signal'] or 'stopped'}"
    return f"{len(crashes)} crashes"

"""The stacks of all threads for the Firefox Profiler (https://profiler.firefox.com): a processed
profile, one sample for each thread of the process.

Its tables are columns: a stack is a frame and the stack that it lies on (`prefix`), a frame is an
address in a function, a function has a name and a resource, which is a library. The profiler brings
files of this version up to date itself.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from typing import Any

from whocall.base.model import Backtrace, Report, marked
from whocall.base.printable import printable, safe_json
from whocall.base.version import __version__

VERSION = 47  # of the processed format
LIBRARY = 1  # a kind of resource
TRUST_CATEGORIES = (("certain", "blue"), ("concluded", "yellow"), ("searched", "red"))
_CATEGORY = {"context": 1, "cfi": 1, "analysis": 2, "frame-pointer": 2, "scan": 3}
_FIELDS = (
    *("pc", "rva", "function", "inferred", "module", "file", "line", "trust", "inlined"),
    "signal_trampoline",
)


class _Numbers:
    """Numbers for what comes again and again, in the order of its first coming."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> tuple[int, bool]:
        """The number, and whether it is a new one."""
        before = len(self.known)
        number = self.known.setdefault(value, before)
        return number, number == before


class _Libraries:
    """All modules in which frames lie."""

    def __init__(self, arch: str) -> None:
        self.table: list[dict[str, Any]] = []
        self._arch = arch
        self._numbers = _Numbers()

    def number(self, module: str, build_id: str | None) -> int:
        number, is_new = self._numbers.of((module, build_id))
        if is_new:
            path = printable(module)
            name = path.rpartition("/")[2]
            self.table.append(
                {
                    "name": name,
                    "path": path,
                    "debugName": name,
                    "debugPath": path,
                    "breakpadId": "",
                    "codeId": build_id,
                    "arch": self._arch,
                }
            )
        return number


def _columns(*names: str) -> dict[str, Any]:
    return {**{name: [] for name in names}, "length": 0}


def _add(table: dict[str, Any], **values: Any) -> int:
    for name, value in values.items():
        table[name].append(value)
    table["length"] += 1
    return int(table["length"]) - 1


class _Thread:
    """The tables of one thread of the process."""

    def __init__(self, libraries: _Libraries) -> None:
        self._libraries = libraries
        self._strings = _Numbers()
        self._funcs, self._frames, self._stacks = _Numbers(), _Numbers(), _Numbers()
        self._resources = _Numbers()
        self.stacks = _columns("prefix", "frame", "category", "subcategory")
        self.frames = _columns(
            *("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"),
            *("innerWindowID", "implementation", "line", "column"),
        )
        self.funcs = _columns(
            *("name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber"),
            "columnNumber",
        )
        self.resources = _columns("lib", "name", "host", "type")

    def string(self, text: str) -> int:
        return self._strings.of(printable(text))[0]

    def strings(self) -> list[Hashable]:
        return list(self._strings.known)

    def stack(self, trace: Backtrace) -> int | None:
        """The number of the innermost frame's stack; None for a thread without frames."""
        fields = (*_FIELDS, "build_id")
        prefix: int | None = None
        for values in reversed(list(trace.rows(*fields))):
            held = dict(zip(fields, values))
            category = _CATEGORY.get(held["trust"], 0)
            frame = self._frame(held, category)
            number, is_new = self._stacks.of((prefix, frame))
            if is_new:
                _add(self.stacks, prefix=prefix, frame=frame, category=category, subcategory=0)
            prefix = number
        return prefix

    def _frame(self, held: dict[str, Any], category: int) -> int:
        func = self._func(held)
        rva = held["rva"] if held["rva"] is not None else held["pc"]
        number, is_new = self._frames.of((func, rva, held["line"], held["inlined"], category))
        if is_new:
            _add(
                self.frames,
                address=rva,
                inlineDepth=int(held["inlined"]),
                category=category,
                subcategory=0,
                func=func,
                nativeSymbol=None,
                innerWindowID=0,
                implementation=None,
                line=held["line"],
                column=None,
            )
        return number

    def _func(self, held: dict[str, Any]) -> int:
        name = "<signal handler called>"
        if not held["signal_trampoline"]:
            unnamed = f"0x{held['rva'] or held['pc']:x}"
            name = marked(held["function"] or unnamed, held["inferred"])
        resource = -1
        if held["module"]:
            resource = self._resource(held["module"], held["build_id"])
        number, is_new = self._funcs.of((name, resource, held["file"]))
        if is_new:
            _add(
                self.funcs,
                name=self.string(name),
                isJS=False,
                relevantForJS=False,
                resource=resource,
                fileName=None if held["file"] is None else self.string(held["file"]),
                lineNumber=None,
                columnNumber=None,
            )
        return number

    def _resource(self, module: str, build_id: str | None) -> int:
        library = self._libraries.number(module, build_id)
        number, is_new = self._resources.of(library)
        if is_new:
            name = self.string(module.rpartition("/")[2])
            _add(self.resources, lib=library, name=name, host=None, type=LIBRARY)
        return number


def _thread_json(trace: Backtrace, libraries: _Libraries, process: str) -> dict[str, Any]:
    tables = _Thread(libraries)
    stack = tables.stack(trace)
    return {
        "name": printable(trace.name) or f"Thread {trace.number}",
        "isMainThread": trace.number == 1,
        "processType": "default",
        "processName": process,
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "pid": "0",
        "tid": trace.lwp,
        "samples": {
            "stack": [stack],
            "time": [0],
            "weight": [1],
            "weightType": "samples",
            "length": 1,
        },
        "markers": _columns("data", "name", "startTime", "endTime", "phase", "category"),
        "stackTable": tables.stacks,
        "frameTable": tables.frames,
        "funcTable": tables.funcs,
        "resourceTable": tables.resources,
        "nativeSymbols": _columns("libIndex", "address", "name", "functionSize"),
        "stringArray": tables.strings(),
    }


def profile(report: Report) -> dict[str, Any]:
    """The profile as JSON values."""
    libraries = _Libraries(report.arch)
    process = printable((report.exe or report.core or "a process").rpartition("/")[2])
    threads = [_thread_json(trace, libraries, process) for trace in report.threads]
    categories = [("Other", "grey"), *TRUST_CATEGORIES]
    return {
        "meta": {
            "version": 24,
            "preprocessedProfileVersion": VERSION,
            "product": process,
            "importedFrom": f"whocall {__version__}",
            "interval": 1,
            "startTime": 0,
            "processType": 0,
            "stackwalk": 1,
            "debug": False,
            "symbolicated": True,
            "pausedRanges": [],
            "extensions": {"baseURL": [], "id": [], "name": [], "length": 0},
            "categories": [
                {"name": name, "color": color, "subcategories": ["Other"]}
                for name, color in categories
            ],
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"},
            "markerSchema": [],
            "usesOnlyOneStackType": True,
            "doesNotUseFrameImplementation": True,
            "sourceCodeIsNotOnSearchfox": True,
        },
        "libs": libraries.table,
        "pages": [],
        "counters": [],
        "profilerOverhead": [],
        "threads": threads,
    }


def text(report: Report) -> Iterator[str]:
    """The file."""
    yield safe_json(json.dumps(profile(report), ensure_ascii=False))
    yield "\n"

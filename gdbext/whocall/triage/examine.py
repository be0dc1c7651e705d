"""One core: walked, made normal, judged. What comes out is plain data, as it is stored."""

from __future__ import annotations

import time
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.cut_files import whole_files
from whocall.base.model import rows
from whocall.report.causes.scene import Scene
from whocall.triage.code import family, imported_at
from whocall.triage.message import message_of, normal
from whocall.triage.opening import open_crash
from whocall.triage.runtime_frames import base_name, is_runtime, plain_name
from whocall.triage.said import said_by
from whocall.triage.severity import NEAR_NULL, classify
from whocall.triage.signature import Place, is_recursion, kept_places, signature_of

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.triage.code import Code
    from whocall.triage.facts import Facts

MOST_FRAMES = 1 << 14
_ENVIRONMENT = 128 << 10  # bytes at the end of the first thread's stack
THROUGH = 12  # frames of the runtime inside, the outermost
ANCHORS = 40  # of a frame, the nearest
_FIELDS = (
    *("level", "pc", "function", "offset", "module", "build_id", "rva", "trust", "rests_on"),
    *("signal_trampoline", "inferred", "cfa"),
)

Json = dict[str, Any]


def examine(path: str, search: Search, facts: Facts) -> Json:
    """What is to be stored of the core `path`. Raises Error where it cannot be read."""
    begun = time.process_time()
    with whole_files():
        found = _examined(path, search, facts)
    found["cost"] = round((time.process_time() - begun) * 1e6)  # microseconds
    return found


def _examined(path: str, search: Search, facts: Facts) -> Json:
    from whocall.base.process_image import Walk

    opened = open_crash(path, search)
    with opened.image as image:
        index = image.index_of_crash()
        walk = Walk(lines=False, past_main=True, max_frames=MOST_FRAMES)
        trace = image.report([index], walk).threads[0]
        found = crash_of(image, index, trace, facts)
        found["host"] = opened.host or host_of(image)
    found["time"] = opened.time if opened.time is not None else Path(path).stat().st_mtime
    return found


def crash_of(image: ProcessImage, index: int, trace: Backtrace, facts: Facts) -> Json:
    """What tells the crash of threads[index] apart; `trace` is its backtrace, past main."""
    return _Crash(image, index, trace, facts).told()


def host_of(image: ProcessImage) -> str | None:
    """What the environment of the process calls HOSTNAME, as containers and shells set it."""
    if not image.threads:
        return None
    sp = min(image.threads, key=lambda thread: thread.lwp).sp
    stack = next((each for each in image.native.mappings if each.begin <= sp < each.end), None)
    if stack is None:
        return None
    size = min(stack.end - stack.begin, _ENVIRONMENT)
    _, found, rest = image.read(stack.end - size, size).rpartition(b"\0HOSTNAME=")
    name = rest.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return name[:255] if found and name else None


class _Crash:
    def __init__(self, image: ProcessImage, index: int, trace: Backtrace, facts: Facts) -> None:
        self.image, self.trace, self.facts = image, trace, facts
        self.thread = image.threads[index]
        self.scene = Scene(image, index, trace)
        self.biases = {
            name: module.bias
            for module in image.modules
            for name in (module.path, module.file_path)
            if name
        }
        self.places, self.cfas = self._places()

    def _places(self) -> tuple[list[Place], list[int | None]]:
        places, cfas = [], []
        for row in rows(self.trace.frames, *_FIELDS):
            level, pc, function, offset, module, build_id, rva, trust, rests_on, *more = row
            trampoline, inferred, cfa = more
            start = None if rva is None or offset is None else rva - offset
            name = None if function is None or is_bare(function, start) else function
            where = (level, pc, name, module, build_id, rva, start)
            places.append(Place(*where, trust, rests_on, trampoline, inferred))
            cfas.append(cfa)
        return places, cfas

    def told(self) -> Json:
        """As JSON."""
        signal = self.trace.signal
        wild = self.scene.is_nowhere
        kept, called, inner = kept_places(self.places, wild)
        called = self._asked_for(kept, inner) or called
        aborted = signal == "SIGABRT" and self.scene.gave_up
        said = self._message(inner) if aborted else None
        frames = [self._frame(place, number == 0) for number, place in enumerate(kept)]
        names = {plain_name(place.function) for place in self.places[:64] if place.function}
        fault = self.scene.fault
        main = next((m for m in self.image.modules if m.is_executable), None)
        words = [frame["key"] for frame in frames]
        return {
            "signature": signature_of(signal, called, words, normal(said)),
            "signal": signal,
            "kind": classify(self.scene, names),
            "address": fault,
            "near": fault if fault is not None and fault < NEAR_NULL else None,
            "called": called,
            "message": said,
            "said": said_by(self.scene),
            "program": self.image.exe_path or (main.path if main else None),
            "build_id": (main.build_id_in_memory or main.build_id_on_disk) if main else None,
            "frames": frames,
            "through": [plain_name(each.function) for each in inner[-THROUGH:] if each.function],
            "recursive": is_recursion(self.places),
        }

    def _asked_for(self, kept: list[Place], inner: list[Place]) -> str | None:
        """What the program's own call names of the runtime, whose functions may have left for
        others by a jump: glibc 2.42's free() does. None where that function stands there.
        """
        if not (kept and inner) or inner[-1].trampoline or kept[0].level != inner[-1].level + 1:
            return None
        if kept[0].trust == "scan":
            return None
        code, at = self._code(kept[0])
        number = bisect_right(code.places, at) - 1 if code is not None else -1
        if code is None or number < 0 or kept[0].rva is None:
            return None
        bias = kept[0].pc - kept[0].rva
        asked = imported_at(self.image, code.places[number] + bias, kept[0].pc)
        stands = plain_name(inner[-1].function) if inner[-1].function else None
        same = asked is None or (stands is not None and family(asked) == family(stands))
        return None if same else asked

    def _message(self, inner: list[Place]) -> str | None:
        ends = [cfa for cfa in self.cfas[: len(inner)] if cfa is not None]
        return message_of(self.scene, self.thread.sp, max(ends)) if ends else None

    def _frame(self, place: Place, innermost: bool) -> Json:
        module = base_name(place.module)
        code, at = self._code(place)
        if place.function is not None and not place.inferred:
            key = f"{module}!{plain_name(place.function)}"
        elif code is not None and code.shape:
            key = f"{module}!~{code.shape}"
        else:
            key = f"{module}+{place.start if place.start is not None else place.rva or 0:#x}"
        return {
            "key": key,
            "module": module or None,
            "build_id": place.build_id or None,
            "function": plain_name(place.function) if place.function else None,
            "inferred": place.inferred,
            "start": place.start,
            "rva": place.rva,
            "trust": place.trust,
            "rests_on": place.rests_on,
            "anchors": nearest(code, at) if code is not None else [],
        }

    def _code(self, place: Place) -> tuple[Code | None, int]:
        """The function's code and the link address that the frame is at in it."""
        if place.start is None or place.rva is None or place.module is None:
            return None, 0
        if is_runtime(place.module, place.function):
            return None, 0
        at = place.rva - (1 if place.level and not place.trampoline else 0)
        found = self.image.native.describe(place.pc - (place.rva - at), lines=False, refused=False)
        bias = self.biases.get(place.module, 0)
        size = found.size or (at - place.start + 64)
        return self.facts.code(self.image, place.build_id, place.start + bias, size, bias), at


def is_bare(function: str, start: int | None) -> bool:
    """Whether the name is only the function's address: sub_1136."""
    return start is not None and function == f"sub_{start:x}"


def nearest(code: Code, at: int) -> list[tuple[str, int]]:
    """The anchors nearest to the link address `at`, with their distance in instructions."""
    here = bisect_right(code.places, at) - 1
    best: dict[str, int] = {}
    for place, anchor in code.anchors:
        far = abs(bisect_right(code.places, place) - 1 - here)
        if far < best.get(anchor, 1 << 30):
            best[anchor] = far
    return sorted(best.items(), key=lambda item: (item[1], item[0]))[:ANCHORS]

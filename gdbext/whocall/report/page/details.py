"""What only some frames of a report have: registers, the stack's words, why they were taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whocall.report.backtrace.words import sentence
from whocall.report.causes.handed import arguments_of
from whocall.report.form.jsonform import Json, hexes
from whocall.report.page.words import StackWords, word_json

if TYPE_CHECKING:
    from whocall.base.model import Backtrace, Frame
    from whocall.base.process_image import ProcessImage, Walk
    from whocall.report.page.code_names import CodeNames
    from whocall.report.page.limits import Budget, Limits


class Details:
    """Looks again at some threads of a process, more closely."""

    def __init__(
        self, image: ProcessImage, walk: Walk, limits: Limits, names: CodeNames, words: Budget
    ) -> None:
        self._image = image
        self._walk = replace(walk, explain=True, registers=True)
        self._limits = limits
        self._words = StackWords(image, limits, names)
        self._budget = words

    def of_thread(self, index: int, whole: Backtrace, innermost: int, outermost: int) -> Json:
        """Of the innermost frames of threads[index], and of the outermost ones of a longer chain;
        `whole` is its backtrace without registers.
        """
        frames = list(self._part(index, whole, innermost))
        rest = len(whole.frames) - innermost
        if rest > 0 and outermost > 0:
            frames += self._part(index, whole, -min(rest, outermost))
        return {"thread": index, "frames": frames}

    def _part(self, index: int, whole: Backtrace, count: int) -> Iterator[Json]:
        longer = count - 1 if -count < len(whole.frames) and count < 0 else count
        trace = self._image.backtrace(index, replace(self._walk, count=longer))
        handed = arguments_of(trace)
        sp: int | None = trace.sp
        for at, frame in enumerate(trace.frames):
            if longer != count and at == 0:  # only where the next one's stack begins
                sp = frame.cfa
                continue
            yield {**self._frame(trace, at, frame, sp), "arguments": handed[at]}
            if not frame.inlined:
                sp = frame.cfa

    def _frame(self, trace: Backtrace, at: int, frame: Frame, sp: int | None) -> Json:
        return {
            "level": frame.level,
            "cfa": hexes(frame.cfa),
            "sp": hexes(sp),
            "explanation": sentence(frame.explanation) if frame.explanation else None,
            "searched": frame.searched,
            "registers": {name: hexes(value) for name, value in (frame.registers or {}).items()},
            **self._stack(trace, at, frame, sp),
        }

    def _stack(self, trace: Backtrace, at: int, frame: Frame, sp: int | None) -> dict[str, Any]:
        nothing: Sequence[Any] = []
        if sp is None:
            return {"word_count": 0, "words": nothing, "cut_at": None}
        count = self._words.count(frame, sp)
        most = min(self._limits.words_of_frame, count)
        if count == 0 or not self._budget.take(most):
            return {"word_count": count, "words": nothing, "cut_at": 0 if count else None}
        words, cut = self._words.of_frame(trace, at, sp, most)
        return {
            "word_count": count,
            "words": [word_json(word) for word in words],
            "cut_at": cut if cut < count else None,
        }

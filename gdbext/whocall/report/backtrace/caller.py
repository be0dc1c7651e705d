"""Who called one frame, in one line: the answer of `whocall` alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.model import Backtrace, Frame
from whocall.base.printable import printable
from whocall.base.records import replace
from whocall.report.backtrace.words import stop_line
from whocall.report.form.file_names import FileNames
from whocall.report.form.jsonform import Json, frame_json
from whocall.report.form.sentences import FURTHER, Piece, broken_pieces, words_alone
from whocall.report.form.short_names import ShortNames
from whocall.report.form.style import Style

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage, Walk

Shown = Callable[[str], str]


def find(trace: Backtrace, level: int, pc: int | None) -> int | None:
    """Index of the frame that gdb calls #level at `pc`: the one with its pc nearest to its level.

    Without a pc the level is ours.
    """
    if level == 0:
        return 0
    frames = enumerate(trace.frames)
    if pc is None:
        return next((at for at, frame in frames if frame.level == level), None)
    fitting = [at for at, frame in frames if frame.pc == pc]
    return min(fitting, key=lambda at: abs(at - level), default=None)


def chain(
    image: ProcessImage, index: int, whole: Walk, level: int, pc: int | None
) -> tuple[Backtrace, int]:
    """The chain of threads[index] as far as it is needed, and the index of the frame in it.

    Of a deep chain a part will do, unless gdb has left out many frames.
    """
    for walk in (replace(whole, count=2 * level + 16), whole):
        trace = image.backtrace(index, walk)
        if not trace.frames:
            raise Error("The selected thread has no frames.")
        at = find(trace, level, pc)
        if at is not None and at + 2 < len(trace.frames):
            break
    if at is None and pc is None:
        raise Error(f"whocall finds {len(trace.frames)} frames: there is no frame {level}.")
    if at is None:
        raise Error(
            f"The selected frame, #{level} at {pc:#x}, is not in the call chain that whocall finds."
            '  "whocall compare" shows where the two part, "frame 0" selects the innermost frame.'
        )
    return trace, at


def shown_pcs(trace: Backtrace, at: int) -> Iterable[int]:
    """The pcs that the sentence speaks of."""
    return [frame.pc for frame in trace.frames[at : at + 2]]


class _Sentence:
    """Its pieces; `name` is how a function's name is told, `module` how a module's path is."""

    def __init__(self, name: Shown, module: Shown, source: Callable[[Frame], str]) -> None:
        self._name, self._module, self._source = name, module, source

    def _named(self, frame: Frame) -> Iterator[Piece]:
        if frame.function is None:
            yield "", "a function without a name around "
            yield "address", f"{frame.pc:#x}"
        else:
            yield "function", self._name(frame.shown)

    def _place(self, frame: Frame) -> Iterator[Piece]:
        """The function with offset and address."""
        yield from self._named(frame)
        if frame.function is not None:
            offset = "" if frame.offset is None else f" (+{frame.offset})"
            yield "", f"{offset} at "
            yield "address", f"{frame.pc:#x}"

    def _where(self, frame: Frame) -> Iterator[Piece]:
        if frame.file is not None:
            yield "", " at "
            yield "filename", self._source(frame)
            yield "", "" if frame.line is None else f":{frame.line}"
        elif frame.module:
            yield "", " in "
            yield "filename", self._module(frame.module)

    def pieces(self, trace: Backtrace, at: int) -> Iterator[Piece]:
        """Of frames[at] of the chain."""
        yield from self._named(trace.frames[at])
        older = trace.frames[at + 1 :]
        if not older:
            why = stop_line(trace) or "it is the outermost frame"
            yield "", f" has no caller: {why.strip('()')}"
            return
        if older[0].signal_trampoline and len(older) > 1:
            caller = older[1]
            verb = "was called by the kernel to handle a signal that interrupted"
        else:
            caller = older[0]
            verb = "was inlined into" if trace.frames[at].inlined else "was called by"
        yield "", f" {verb} "
        yield from self._place(caller)
        yield from self._where(caller)
        evidence = "; ".join(caller.evidence)
        how = f"{caller.trust}: {evidence}" if evidence else caller.trust
        if caller.rests_on is not None:
            how += f", but it rests on the search of the stack that found #{caller.rests_on}"
        yield "", f" [{how}]"


def sentence(trace: Backtrace, at: int) -> str:
    """Who called frames[at] of the chain, from where, and how sure that is; with whole paths."""
    whole = _Sentence(str, str, lambda frame: frame.file or "")
    return printable(words_alone(whole.pieces(trace, at)))


def _absolute_file(image: ProcessImage, frame: Frame) -> str:
    place = image.native.describe(frame.pc if frame.interrupted else frame.pc - 1)
    found = {
        (file, line): whole for (_, file, line), whole in zip(place.lines, place.absolute_files)
    }
    return found.get((frame.file or "", frame.line or 0), "")


def sentence_lines(
    image: ProcessImage, trace: Backtrace, at: int, files: FileNames, style: Style, columns: int
) -> list[str]:
    """The same for people, in lines that fit so many columns; 0: in one."""
    short = ShortNames(frame.shown for frame in trace.frames[at : at + 3])
    room = columns - 1 - FURTHER if columns else None

    def name(function: str) -> str:
        return function if room is None else short.fit(function, room)

    def source(frame: Frame) -> str:
        whole = _absolute_file(image, frame) if files.absolute else ""
        return files.source(frame.file or "", whole)

    pieces = _Sentence(name, files.module, source).pieces(trace, at)
    return broken_pieces(pieces, style, columns)


def caller_json(trace: Backtrace, at: int) -> Json:
    """Schema whocall.caller/1: both frames, as in whocall.backtrace/1, and the sentence on them."""
    older = trace.frames[at + 1] if at + 1 < len(trace.frames) else None
    return {
        "schema": "whocall.caller/1",
        "callee": frame_json(trace.frames[at]),
        "caller": None if older is None else frame_json(older),
        "sentence": sentence(trace, at),
    }

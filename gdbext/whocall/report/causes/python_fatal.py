"""The text of a fatal error of Python's, by the code that told it.

`Py_FatalError("...")` in C stands for a call with the name of the function and the text, both of
them constants. The function that is called is one of Python's interface, so that it has a name
where the interpreter is stripped, too; or it is known by the words that it writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from whocall.base.records import replace
from whocall.report.causes.constants import caller_of, handed_texts, refers_to
from whocall.report.causes.handed import arguments_of
from whocall.report.causes.scene import Fact, Scene
from whocall.report.causes.speakers import PYTHON_SAYS

_DEEPEST = 8  # frames
_MOST_CALLERS = 2  # between the function that writes and the one that gave up
_WITHOUT_NAME = "Py_FatalError"  # takes the text alone
_WITH_NAME = "_Py_FatalErrorFunc"  # of the function that gives up
_NAMES = (_WITH_NAME, _WITHOUT_NAME)


def _told(scene: Scene, level: int) -> tuple[int, str] | None:
    """The level of the frame that told it, and the text, as `level` and its callers have it."""
    for _ in range(_MOST_CALLERS):
        caller = caller_of(scene, level)
        if caller is None:
            return None
        name, text = (*handed_texts(scene, caller), None, None)[:2]
        if scene.functions[level : level + 1] == [_WITHOUT_NAME]:
            return None if name is None else (caller, name)
        if name is not None and text is not None:
            return caller, f"{name}: {text}"
        level = caller
    return None


# Folklore. Situation: the text is a constant of another function than the one that hands it on, or
# it is put together. Example: _Py_FatalError_TstateNULL(), to which PyThreadState_Get() jumps.
# Remedy: where the interpreter's end has its name it takes two texts, and what it was handed is
# read as for its frame in a backtrace.
def _handed(scene: Scene, level: int) -> tuple[int, str] | None:
    """The same by the arguments of the frame."""
    if scene.functions[level] != _WITH_NAME:
        return None
    known = arguments_of(replace(scene.trace, frames=scene.trace.frames[: level + 2]))[level] or []
    texts = [each["text"] for each in known[:2] if each["trust"] != "now"]
    return None if len(texts) < 2 or None in texts else (level, ": ".join(texts))


def python(scene: Scene) -> Iterator[Fact]:
    """The fatal error that ended the interpreter."""
    levels = range(1, min(_DEEPEST, len(scene.trace.frames)))
    ends = (
        at for at in levels
        if scene.functions[at] in _NAMES or refers_to(scene, at, PYTHON_SAYS) is not None
    )  # fmt: skip
    first = next(ends, None)
    if first is None:
        return
    if told := _told(scene, first):
        proof = f"the code of #{told[0]} hands it to #{first}, the interpreter's end"
    else:
        told = next(filter(None, (_handed(scene, at) for at in levels[first - 1 :])), None)
        proof = f"#{told[0]} is the interpreter's end, and was handed it" if told else ""
    if told is not None:
        said = f"Fatal Python error: {told[1]}"
        yield Fact("fatal-error", said, proof, told[0], said)

"""The text of a fatal error of Python's, by the code that told it.

`Py_FatalError("...")` in C stands for a call with the name of the function and the text, both of
them constants. The function that is called is one of Python's interface, so that it has a name
where the interpreter is stripped, too; or it is known by the words that it writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from whocall.report.page.constants import caller_of, handed_texts, refers_to
from whocall.report.page.scene import Fact, Scene

_SAYS = (b"Fatal Python error: \0",)
_DEEPEST = 8  # frames
_MOST_CALLERS = 2  # between the function that writes and the one that gave up
_WITHOUT_NAME = "Py_FatalError"  # takes the text alone
_NAMES = ("_Py_FatalErrorFunc", _WITHOUT_NAME)


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


def python(scene: Scene) -> Iterator[Fact]:
    """The fatal error that ended the interpreter."""
    for level in range(1, min(_DEEPEST, len(scene.trace.frames))):
        known = scene.functions[level] in _NAMES
        if not known and refers_to(scene, level, _SAYS) is None:
            continue
        told = _told(scene, level)
        if told is not None:
            yield Fact(
                "fatal-error",
                f"Fatal Python error: {told[1]}",
                f"the code of #{told[0]} hands it to #{level}, the interpreter's end",
                told[0],
            )
        return

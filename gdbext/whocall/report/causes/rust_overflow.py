"""A stack that is used up, as Rust's runtime finds it in its handler of SIGSEGV."""

from __future__ import annotations

from collections.abc import Iterator

from whocall.report.causes.constants import caller_of, refers_to
from whocall.report.causes.scene import Fact, Scene
from whocall.report.causes.speakers import OVERFLOW_SAYS

_DEEPEST = 10  # frames
_NEAR = 1 << 16  # bytes below a stack: a page or some that guard it, and a frame


def rust_overflow(scene: Scene) -> Iterator[Fact]:
    """The handler is called for faults of every kind, so what it interrupted has to stand at the
    end of its stack.
    """
    frames = scene.trace.frames
    for level in range(1, min(_DEEPEST, len(frames) - 2)):
        caller = caller_of(scene, level)
        beyond = None if caller is None else caller_of(scene, caller)
        if caller is None or beyond is None or not frames[caller].signal_trampoline:
            continue
        sp, mapping = frames[beyond].sp, scene.mapping_at(frames[beyond].cfa or 0)
        if mapping is None or "w" not in mapping[2] or abs(sp - mapping[0]) > _NEAR:
            return
        if refers_to(scene, level, OVERFLOW_SAYS) is not None:
            yield Fact(
                "stack-overflow",
                "Rust's runtime found the stack used up: fatal runtime error: stack overflow",
                f"#{level} is its handler of faults, and the stack that #{beyond} stands on, "
                f"at {sp:#x}, begins at {mapping[0]:#x}",
                beyond,
                "fatal runtime error: stack overflow",
            )
        return

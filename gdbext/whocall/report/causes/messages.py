"""The last words that runtimes keep in memory when they give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from whocall.report.causes.c_library import c_library
from whocall.report.causes.go_panic import go
from whocall.report.causes.python_fatal import python
from whocall.report.causes.rust_overflow import rust_overflow
from whocall.report.causes.rust_panic import rust
from whocall.report.causes.scene import Fact, Scene

RUNTIMES: Sequence[Callable[[Scene], Iterator[Fact]]] = (
    c_library,
    go,
    rust,
    rust_overflow,
    python,
)


def messages(scene: Scene) -> list[Fact]:
    """What runtimes left, where it is they who ended the program."""
    if not scene.gave_up:
        return []
    return [fact for runtime in RUNTIMES for fact in runtime(scene)]

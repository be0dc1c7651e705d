"""The last words that runtimes keep in memory when they give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from whocall.report.page.c_library import c_library
from whocall.report.page.go_panic import go
from whocall.report.page.python_fatal import python
from whocall.report.page.rust_panic import rust
from whocall.report.page.scene import Fact, Scene

RUNTIMES: Sequence[Callable[[Scene], Iterator[Fact]]] = (c_library, go, rust, python)


def messages(scene: Scene) -> list[Fact]:
    """What runtimes left, where it is they who ended the program."""
    if not scene.gave_up:
        return []
    return [fact for runtime in RUNTIMES for fact in runtime(scene)]

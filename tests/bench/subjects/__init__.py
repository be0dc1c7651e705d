"""What is measured, a function each; names of figures begin with the subject's."""

from __future__ import annotations

from collections.abc import Callable

from bench.figures import Figures
from bench.subjects import stacks
from bench.workshop import Workshop

SUBJECTS: dict[str, Callable[[Workshop], Figures]] = {
    "crowd": stacks.crowd,
    "deep": stacks.deep,
    "clang": stacks.compiler,
    "small": stacks.small,
}

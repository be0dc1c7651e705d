"""What a user must know of the modules in which frames lie."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Protocol

    from whocall._native import Module, Process

    class Image(Protocol):
        """What is asked of the image of a process."""

        @property
        def native(self) -> Process:
            """The process itself."""

        @property
        def own_warnings(self) -> list[str]:
            """What is wrong with it without its files, a sentence each."""

        @property
        def modules(self) -> list[Module]:
            """Its loaded files, by address."""


def is_other_build(module: Module) -> bool:
    """Whether the file at the module's place is not the one in memory."""
    return module.state == "MISMATCH" or (module.state == "in memory" and bool(module.file_path))


def complaint(module: Module) -> str | None:
    """A sentence on a module that has no file, or the file of another build."""
    if module.state != "missing" and not is_other_build(module):
        return None
    said = module.remark or f"{module.path}: {module.state}."
    return f"{module.state}: {said}" if module.state == "MISMATCH" else said


def warnings_on(image: Image, pcs: Iterable[int]) -> list[str]:
    """The same for frames that stand at the `pcs`."""
    modules = image.modules
    begins = [module.begin for module in modules]
    held: Counter[int] = Counter()
    for pc in pcs:
        at = bisect_right(begins, pc) - 1
        if at >= 0 and pc < modules[at].end:
            held[at] += 1
    return warnings_by_module(image, held)


def warnings_by_module(image: Image, held: Mapping[int, int]) -> list[str]:
    """The image's own warnings, and one for each such module with frames: how many are `held` by
    the modules of which indices.

    Behind them stand those on lists of names that lend none."""
    own = image.own_warnings
    said = list(own)
    for at in sorted(held):
        module = image.modules[at]
        sentence = complaint(module)
        if sentence is None or any(module.path in other for other in own):
            continue
        count = "1 frame lies" if held[at] == 1 else f"{held[at]} frames lie"
        said.append(f"{sentence} {count} in it.")
    return said + image.native.name_warnings

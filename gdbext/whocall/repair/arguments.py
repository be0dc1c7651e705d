"""What functions on the stacks of a core were handed, as a debugger is told of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.native_errors import native_errors

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage


@dataclass(frozen=True)
class Arguments:
    """A symbol file for the process, and none other."""

    file: Path
    functions: int  # of how many it tells


def arguments_file(
    image: ProcessImage,
    traces: Sequence[Backtrace],
    modules: Sequence[int],
    write: Callable[[bytes | memoryview], Path],
) -> Arguments | None:
    """Of the functions of these modules, which have a file, on these stacks; None where nothing is
    known. The values are those of calls under way in a process that does not run any more: one that
    goes on makes others.
    """
    usable = [index for index in modules if image.modules[index].state == "found"]
    if not traces or not usable or image.core_path is None:
        return None
    from whocall.base.native_backtraces import walk_of  # which no Python reads that is another

    with native_errors():
        told = image.native.told_arguments([walk_of(trace) for trace in traces])
        contents, functions = told.file(usable)
    return Arguments(write(contents), functions) if contents else None

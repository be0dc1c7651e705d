"""Makes of a core a smaller one, which holds what was read to answer questions about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from typing import BinaryIO

from whocall.base.cut_files import whole_files
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.records import dataclass
from whocall.dumps import sparse
from whocall.dumps.arrival import receive
from whocall.inputs.opening import in_root

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.model import Backtrace

Needed = tuple[int, int, int, bool]
"""Of one frame, runtime addresses: its pc, its stack pointer and its CFA, 0 where unknown; whether
a signal handler returns there.
"""

_BELOW = 256  # bytes: leaf functions use the stack below their pointer
_LARGEST = 1 << 20  # bytes: of a frame that is kept whole


@dataclass(frozen=True)
class Shrunk:
    """What was made. Sizes are in bytes."""

    name: str  # of the core
    before: int
    after: int
    threads: int
    changed: int  # threads whose frames, names or trust the smaller core tells otherwise
    remarks: list[str]


def shrink(
    path: str,
    exe: str,
    search: Search,
    ask: Callable[[ProcessImage], Iterable[Needed]],
    out: BinaryIO,
    private: bool = False,
) -> Shrunk:
    """Writes to `out` what `ask` reads of the core at `path`, packed or not, and the stacks of the
    frames that it returns. `exe` is the program, if it is known. Raises Error.
    """
    arrived = receive(path, search.sysroot)
    if arrived.converter is not None:
        text = "is a dump that is small already: hand it on as it is, or make a core by `unpack`"
        raise Error(f"{arrived.name} {text}", path=path)

    def open_it(where: Search) -> ProcessImage:
        return ProcessImage(core.image(where.native(exe)))

    with sparse.temporary() as made:
        with whole_files(), native_errors():
            core = native.ShrinkableCore(os.fsencode(arrived.path))
            with in_root(open_it, search) as image:
                image.came_as(arrived.name, {}, arrived.remarks, None)
                for pc, sp, cfa, signal in ask(image):
                    core.keep_code(pc)
                    if signal and sp:
                        core.keep_signal(sp)
                    if sp and 0 < cfa - sp <= _LARGEST:
                        core.keep(max(sp - _BELOW, 0), cfa)
                folder = os.fsencode(sparse.folder())
                core.write(image.native, made.fileno(), folder, private)
                changed = _changed(image, sparse.path_of(made), exe, search)
                threads, remarks = len(image.threads), image.own_warnings
        made.seek(0)
        shutil.copyfileobj(made, out)
        after = os.fstat(made.fileno()).st_size
    before = os.stat(arrived.path).st_size
    return Shrunk(arrived.name, before, after, threads, changed, remarks)


def _changed(image: ProcessImage, path: str, exe: str, search: Search) -> int:
    def open_it(where: Search) -> ProcessImage:
        return ProcessImage(native.open_core(os.fsencode(path), where.native(exe)))

    with in_root(open_it, search) as small:
        pairs = zip(image.report().threads, small.report().threads)
        return sum(_frames(before) != _frames(after) for before, after in pairs)


def _frames(trace: Backtrace) -> list[tuple[object, ...]]:
    return [*trace.rows("pc", "function", "trust", "module"), (trace.stop.reason,)]

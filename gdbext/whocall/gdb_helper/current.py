"""What gdb works on, as the functions see it that answer."""

from __future__ import annotations

import re
from pathlib import Path

from whocall.base.records import dataclass, replace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage

_OF_GDB = re.compile(r"/proc/(\d+)/fd/(\d+)\Z")  # a file without a name, that gdb has open


class ThreadsWantedError(Exception):
    """The numbers of all of gdb's threads have to be known."""


@dataclass(frozen=True)
class Current:
    """The inferior's image, the selected thread in it, and gdb's numbers of the threads."""

    image: ProcessImage
    selected: int  # index into image.threads
    numbers: dict[int, int]  # index into image.threads -> gdb's thread number

    def renumbered(self, index: int, trace: Backtrace) -> Backtrace:
        """The trace under gdb's thread number."""
        return replace(trace, number=self.numbers.get(index, trace.number))

    def every_thread(self) -> list[int]:
        """Indices of all threads in the order of gdb's numbers."""
        numbers = [self.numbers.get(at, 1 << 30) for at in range(len(self.image.threads))]
        return sorted(range(len(numbers)), key=numbers.__getitem__)

    def wanted(self, every_thread: bool) -> list[int]:
        """Indices of all threads, or of the selected one."""
        return self.every_thread() if every_thread else [self.selected]


def indices(image: ProcessImage, threads: Iterable[tuple[int, int]]) -> dict[int, int]:
    """gdb's thread numbers by our index; matched by LWP, else by order."""
    known = list(threads)
    by_lwp = {lwp: number for number, lwp in known}
    found = {at: by_lwp[t.lwp] for at, t in enumerate(image.threads) if t.lwp in by_lwp}
    if not found and len(known) == len(image.threads):
        found = dict(enumerate(sorted(number for number, _ in known)))
    return found


def numbers_in_order(image: ProcessImage, number: int, lwp: int) -> dict[int, int]:
    """gdb counts a core's threads in the order of their notes, as we do; nothing where the thread
    of that number is not where it should be, or where gdb takes two of them for one.
    """
    lwps = [one.lwp for one in image.threads]
    if len(set(lwps)) < len(lwps) or lwps[number - 1 : number] != [lwp]:
        return {}
    return {at: at + 1 for at in range(len(lwps))}


def stamps_of(*paths: str) -> Hashable:
    """What changes where a file is written anew; of one that is not there, zeros."""
    stamps = []
    for path in paths:
        try:
            status = Path(path).stat()
            stamps.append((status.st_mtime_ns, status.st_size, status.st_ino))
        except OSError:
            stamps.append((0, 0, 0))
    return tuple(stamps)


def descriptor_of(core: str, gdb: int) -> int | None:
    """Of a core that the process `gdb` has open, and that has no other name."""
    match = _OF_GDB.match(core)
    return int(match.group(2)) if match and int(match.group(1)) == gdb else None

"""Call traces and the image of the process that gives their addresses names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from whocall.base.elf_head import read_elf_head
from whocall.base.file_search import Search
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.records import dataclass

_MAPPING = re.compile(
    r"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ([r-][w-][x-])[ps] ([0-9a-f]{1,16}) \S+ \d+ *(.+)?$"
)


@dataclass(frozen=True)
class OpenTrace:
    """A trace, and the process that it is of: of a trace's own file one without memory."""

    data: native.Trace
    image: ProcessImage

    @property
    def threads(self) -> list[native.TraceThread]:
        """In the order in which they first called an instrumented function."""
        return self.data.threads

    @property
    def warnings(self) -> list[str]:
        """What of the trace cannot be told."""
        return [*self.data.remarks, *_damages(self.threads)]


def _damages(threads: list[native.TraceThread]) -> Iterator[str]:
    for thread in threads:
        if thread.damaged:
            plural = "s" * (thread.damaged != 1)
            yield (
                f"Of thread {thread.tid} {thread.damaged:,} record{plural} of the ring cannot be"
                " read, or was being written, and is left out."
            )


def trace_of(image: ProcessImage) -> OpenTrace:
    """The trace in a core's or a process's memory. Raises Error when there is none."""
    with native_errors():
        return OpenTrace(native.trace_of_process(image.native), image)


def is_trace_file(path: str) -> bool:
    """Whether the file is one that WHOCALL_TRACE_FILE named."""
    return Path(path).is_file() and native.is_trace_file(os.fsencode(path))


def open_trace_file(path: str, search: Search = Search()) -> OpenTrace:
    """A trace that the program kept in a file. Raises Error."""
    with native_errors():
        trace = native.trace_of_file(os.fsencode(path))
        return OpenTrace(trace, ProcessImage(_process_of(trace, search)))


def _process_of(trace: native.Trace, search: Search) -> native.Process:
    """What the file tells of the process: its mappings."""
    mappings = list(_mappings(os.fsdecode(trace.maps)))
    arch = trace.arch or native.architectures()[0]  # addresses alone can be told then
    first: dict[str, int] = {}  # where the file's first byte lies
    for begin, _, _, offset, path in mappings:
        if path.startswith("/") and offset == 0:
            first.setdefault(path, begin)
    files: list[tuple[bytes, int, bool]] = []
    for path, begin in first.items():
        head = read_elf_head(path)
        if head is not None and head.begin is not None:
            files.append((os.fsencode(path), begin - head.begin, not files))
    named = [(*mapping[:4], os.fsencode(mapping[4])) for mapping in mappings]
    pid = trace.threads[0].pid if trace.threads else 0
    return native.open_inferior(
        arch, pid, [], named, files, None, lambda address, size: b"", search.native()
    )


def _mappings(text: str) -> Iterator[tuple[int, int, str, int, str]]:
    """The lines of /proc/PID/maps; what is no such line is passed over."""
    end = 0
    for line in text.split("\n"):
        found = _MAPPING.match(line)
        if found is None:
            continue
        begin, last, offset = (int(found[each], 16) for each in (1, 2, 4))
        if end <= begin < last:
            end = last
            yield (begin, last, found[3], offset, found[5] or "")

"""Which file lies where in the process that a log speaks of."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from whocall.base.records import dataclass, slotted

MOST_MAPPINGS = 1 << 17
_MOST_OF_ONE_FILE = 256  # mappings next to each other

_PROC = re.compile(
    r"\b([0-9a-f]{4,16})-([0-9a-f]{4,16}) ([r-][w-][x-][ps-]) ([0-9a-f]{1,16})"
    r" [0-9a-f]{2,8}:[0-9a-f]{2,8} [0-9]{1,20}(?: +(\S.*)| *)$"
)
# gdb's `info proc mappings`: begin, end, size, offset, permissions (of late), path.
_GDB = re.compile(
    r"^\s+0x([0-9a-f]{1,16})\s+0x([0-9a-f]{1,16})\s+0x[0-9a-f]{1,16}\s+0x([0-9a-f]{1,16})"
    r"(?:\s+([r-][w-][x-][ps-]))?(?:\s+(\S.*))?$"
)
# The same as a table (gdb 16): each column has a space behind it.
_GDB_TABLE = re.compile(
    r"^0x([0-9a-f]{1,16}) +0x([0-9a-f]{1,16}) +0x[0-9a-f]{1,16} +0x([0-9a-f]{1,16})"
    r" +([r-][w-][x-][ps-])  (?:(\S.*) )? *$"
)
# perf script --show-mmap-events: begin, size, offset, permissions, path.
_PERF = re.compile(
    r"PERF_RECORD_MMAP2? -?[0-9]+/[0-9]+: \[0x([0-9a-f]{1,16})\(0x([0-9a-f]{1,16})\)"
    r" @ (0x[0-9a-f]{1,16}|0) [^\]]*\]: ([r-][w-][x-][ps-]) (\S.*)$"
)
_GONE = " (deleted)"


@slotted
@dataclass(frozen=True)
class Mapping:
    """One mapping of a file, half-open. Runtime addresses."""

    begin: int
    end: int
    offset: int  # in the file
    executable: bool | None  # None: nobody says
    path: str


def parse_mapping(line: str) -> Mapping | None:
    """The mapping that a line tells of, as /proc/PID/maps, gdb and perf write them."""
    if "-" not in line and "0x" not in line:
        return None
    found = _PROC.search(line)
    if found:
        begin, end, permissions, offset, path = found.groups()
        return _mapping(int(begin, 16), int(end, 16), int(offset, 16), permissions, path)
    found = _GDB.match(line) or _GDB_TABLE.match(line)
    if found:
        begin, end, offset, permissions, path = found.groups()
        return _mapping(int(begin, 16), int(end, 16), int(offset, 16), permissions, path)
    found = _PERF.search(line)
    if found:
        begin, size, offset, permissions, path = found.groups()
        start = int(begin, 16)
        return _mapping(start, start + int(size, 16), int(offset, 16), permissions, path)
    return None


def _mapping(
    begin: int, end: int, offset: int, permissions: str | None, path: str | None
) -> Mapping:
    name = path or ""
    if name.endswith(_GONE):
        name = name[: -len(_GONE)]
    return Mapping(begin, end, offset, None if permissions is None else "x" in permissions, name)


class Maps:
    """The mappings of one process; another process's take their place."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._all: list[Mapping] = []
        self._last = 0
        self._paths: dict[str, str] = {}  # by name

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, mapping: Mapping) -> None:
        """One of a list. They are sorted by address: where one begins again, it is another
        process's.
        """
        if mapping.begin < self._last:
            self._begins.clear()
            self._all.clear()
            self._paths.clear()
        self._last = mapping.begin
        self.insert(mapping)

    def insert(self, mapping: Mapping) -> None:
        """One that comes by itself: what lay there before is gone."""
        if mapping.end <= mapping.begin or len(self._all) >= MOST_MAPPINGS:
            return
        last = bisect_left(self._begins, mapping.end)
        first = bisect_right(self._begins, mapping.begin)
        while first > 0 and self._all[first - 1].end > mapping.begin:
            first -= 1
        if "/" in mapping.path and len(self._paths) < MOST_MAPPINGS:
            self._paths.setdefault(mapping.path.rpartition("/")[2], mapping.path)
        self._begins[first:last] = [mapping.begin]
        self._all[first:last] = [mapping]

    def find(self, address: int) -> Mapping | None:
        """The mapping of a file that holds a runtime address."""
        at = bisect_right(self._begins, address) - 1
        if at < 0:
            return None
        mapping = self._all[at]
        return mapping if address < mapping.end and mapping.path[:1] not in ("", "[") else None

    def covers(self, address: int) -> bool:
        """Whether code may lie at a runtime address, of a file or of none."""
        at = bisect_right(self._begins, address) - 1
        return at >= 0 and address < self._all[at].end and self._all[at].executable is not False

    def path_called(self, name: str) -> str | None:
        """The path of a mapped file of this name; of several the one that was told first."""
        return self._paths.get(name)

    def first_byte(self, mapping: Mapping) -> int | None:
        """Where the file's first byte is mapped, if it is, with nothing of another file between."""
        at = bisect_left(self._begins, mapping.begin)
        lowest = max(0, at - _MOST_OF_ONE_FILE)
        while at >= lowest and self._all[at].path in (mapping.path, ""):
            if self._all[at].offset == 0 and self._all[at].path:
                return self._all[at].begin
            at -= 1
        return None

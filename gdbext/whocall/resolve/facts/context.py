"""What a log has told so far that later lines stand on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whocall.resolve.facts.maps import Maps, parse_mapping

if TYPE_CHECKING:
    from whocall.resolve.facts.place import Place

_MOST_NAMES = 4096
_BUILD_ID = re.compile(r"^\s*([0-9a-f]{16,64}) (/\S.*)$")  # perf buildid-list
_WITH_ID = " with build-id "  # systemd: "Module /usr/bin/prog with build-id 2a86..."
_ID = re.compile(r"[0-9a-f]{16,64}\b")
# AddressSanitizer's print_module_map, and its build ids.
_MODULE_MAP = re.compile(
    r"^\s*0x([0-9a-f]{1,16})-0x([0-9a-f]{1,16}) (/\S.*) \(([0-9a-f]{16,64})\)$"
)
# gdb's `info sharedlibrary`: where .text lies.
_LIBRARY = re.compile(
    r"^\s*0x([0-9a-f]{8,16})\s+0x[0-9a-f]{8,16}\s+(?:Yes|No)(?: \(\*\))?\s+(/\S.*)$"
)
# libwhocall's.
_MODULE = re.compile(
    r"(?:^|\s)module: 0x[0-9a-f]{1,16}-0x[0-9a-f]{1,16} bias 0x[0-9a-f]{1,16} build id "
    r"(-|[0-9a-f]{4,128}) (\S.*)$"
)
_EXECUTABLE = re.compile(r"^\s*Executable: (/\S.*)$")


class Context:
    """Facts of the process that the log speaks of at present."""

    def __init__(self, exe: str = "") -> None:
        """`exe` is the program of addresses of which no line tells the file."""
        self.maps = Maps()
        self.program = exe or None
        self.loaded: tuple[str, int] | None = None  # the program's path and load bias, found out
        self.interrupted = False  # a line says so of the next frame: a signal did it
        self.in_crash = False  # in a report of libwhocall
        self.begins_report = False  # this line is the first of a report that tells its own facts
        self.begins: set[str] = set()  # kinds of logs of which the next frame begins a stack
        self.function = ""  # what the line before named
        # What the kernel told of in a line above: file, begin and size of its code, place in it.
        self.mapped: tuple[str, int, int, int | None] | None = None
        self.text_at: dict[str, int] = {}  # runtime address of .text, by path
        self.waits = False  # what is found from here on needs what comes later
        self._in_list = False
        self._build_ids: dict[str, str] = {}
        self._biases: dict[str, int] = {}

    def begin_crash(self) -> None:
        """A report of libwhocall begins."""
        self.begin_report()
        self.in_crash = True

    def begin_report(self) -> None:
        """A report begins that tells of builds or mappings behind its stacks: what comes is named
        when that is there; sooner where it is long in coming.
        """
        self.waits = self.begins_report = True

    def forget(self) -> None:
        """Another process's report begins, and brings what is to be known of it."""
        self.begins_report = False
        self.maps = Maps()
        self.text_at.clear()
        self._build_ids.clear()
        self._biases.clear()

    def build_id_of(self, module: str) -> str | None:
        """What the log said of this path, or of a file of this name."""
        known = self._build_ids.get(module)
        if known is None:
            known = self._build_ids.get(module.rsplit("/", 1)[-1])
        return known or None

    def tell_build_id(self, module: str, build_id: str) -> None:
        """From now on `module` is this build; "" stands for one that has no id."""
        if len(self._build_ids) < _MOST_NAMES:
            self._build_ids[module] = build_id
            self._build_ids[module.rsplit("/", 1)[-1]] = build_id

    def bias_of(self, module: str) -> int | None:
        """Runtime address minus link address, where a line told both."""
        return self._biases.get(module)

    def note(self, place: Place) -> None:
        """What a place tells of its module."""
        if place.module and place.build_id:
            self.tell_build_id(place.module, place.build_id)
        known = place.address is not None and place.offset is not None
        if known and place.module and place.counted == "link" and len(self._biases) < _MOST_NAMES:
            assert place.address is not None and place.offset is not None
            self._biases[place.module] = place.address - place.offset

    def learn(self, line: str) -> bool:
        """Whether the line is one of those that tell of the process and of no place in it."""
        mapping = parse_mapping(line)
        if mapping is not None:
            self._in_list = True
            if "PERF_RECORD" in line:
                self._in_list = False
                self.maps.insert(mapping)
            else:
                self.maps.add(mapping)
            return True
        known = self._learn_module(line)
        if self._in_list and not known:
            self._in_list = self.waits = self.in_crash = False
        return known

    def _learn_from_systemd(self, line: str) -> bool:
        before, _, behind = line.partition(_WITH_ID)
        module = before.rpartition("Module ")[2]
        found = _ID.match(behind)
        if found is None or len(module) == len(before):
            return False
        self.tell_build_id(module, found[0])
        return True

    def _learn_module(self, line: str) -> bool:
        if "/" not in line and "build-id" not in line and "build id" not in line:
            return False
        found = _MODULE.search(line)
        if found:
            self._in_list = True
            self.tell_build_id(found[2], found[1] if found[1] != "-" else "")
            return True
        found = _BUILD_ID.search(line)
        if found:
            self.tell_build_id(found[2], found[1])
            return True
        if _WITH_ID in line:
            return self._learn_from_systemd(line)
        found = _MODULE_MAP.match(line)
        if found:
            self.tell_build_id(found[3], found[4])
            return True
        found = _LIBRARY.match(line)
        if found:
            if len(self.text_at) < _MOST_NAMES:
                self.text_at[found[2]] = int(found[1], 16)
            return True
        found = _EXECUTABLE.match(line)
        if found:
            self.program = found[1]
        return found is not None

"""What a log has told so far that later lines stand on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whocall.resolve.facts.maps import Maps, parse_mapping
from whocall.resolve.facts.place import LINK

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
# gdb's `info sharedlibrary`: where .text lies, or all segments.
_LIBRARY = re.compile(
    r"^\s*0x([0-9a-f]{8,16})\s+0x([0-9a-f]{8,16})\s+(?:Yes|No)(?: \(\*\))?\s+(/\S.*)$"
)
# lldb's `image list`: its build id, and where the first byte lies.
_IMAGE = re.compile(
    r"^\s*\[\s{0,4}[0-9]{1,5}\] (?P<id>[0-9A-F]{8}(?:-[0-9A-F]{4,12}){1,6}) "
    r"0x(?P<base>[0-9a-f]{8,16}) (?P<path>/\S.*?)\s*$"
)
# libwhocall's.
_MODULE = re.compile(
    r"(?:^|\s)module: 0x[0-9a-f]{1,16}-0x[0-9a-f]{1,16} bias 0x[0-9a-f]{1,16} build id "
    r"(-|[0-9a-f]{4,128}) (\S.*)$"
)
# Envoy tells its first mapping with code.
_CODE = re.compile(r"\bAddress mapping: ([0-9a-f]{4,16})-([0-9a-f]{4,16}) (/\S.*?)\s*$")
_EXECUTABLE = re.compile(r"^\s*Executable: (/\S.*)$")


class Context:
    """Facts of the process that the log speaks of at present."""

    def __init__(self, exe: str = "") -> None:
        """`exe` is the program of addresses of which no line tells the file."""
        self.maps = Maps()
        self.program = exe or None
        # Path and load bias as they were found out, by what the log calls the file; "" is of the
        # program.
        self.loaded: dict[str, tuple[str, int]] = {}
        self.interrupted = 0  # of so many next frames a line says that no call returns to them
        self.understood = False  # nothing in this line is to be named, and that is known
        self.in_crash = False  # in a report of libwhocall
        self.begins_report = False  # this line is the first of a report that tells its own facts
        self.block = ""  # of lines that are frames for what stands above them
        self.begins: set[str] = set()  # kinds of logs of which the next frame begins a stack
        self.function = ""  # what the line before named
        # What the kernel told of in a line above: file, begin and size of its code, place in it.
        self.mapped: tuple[str, int, int, int | None] | None = None
        self.trap: int | None = None  # an address of which the kernel's next line tells the file
        self.listed_at: dict[str, tuple[int, int]] = {}  # runtime begin and end, by path
        self.first_at: dict[str, int] = {}  # runtime address of a file's first byte, by path
        # Path of a file, and runtime begin and end of its first mapping with code.
        self.code_at: tuple[str, int, int] | None = None
        self.waits = False  # what is found from here on needs what comes later
        self.in_list = False  # of mappings or modules
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
        self.listed_at.clear()
        self.first_at.clear()
        self.code_at = None
        self._build_ids.clear()
        self._biases.clear()

    def build_id_of(self, module: str) -> str | None:
        """What the log said of this path, or of a file of this name."""
        known = self._build_ids.get(module)
        if known is None:
            known = self._build_ids.get(module.rsplit("/", 1)[-1])
        return known or None

    def library_at(self, address: int) -> str | None:
        """The path of the library in which a runtime address lies, where gdb's list tells that."""
        for path, (begin, end) in self.listed_at.items():
            if begin <= address < end:
                return path
        return None

    def tell_build_id(self, module: str, build_id: str) -> None:
        """From now on `module` is this build; "" stands for one that has no id."""
        if len(self._build_ids) < _MOST_NAMES:
            self._build_ids[module] = build_id
            self._build_ids[module.rsplit("/", 1)[-1]] = build_id

    def tells(self, place: Place) -> bool:
        """Whether something tells where the file of a place lies; else later lines may."""
        address = place.address
        if place.program and self.program is None:
            return False
        return (
            address is None
            or place.offset is not None
            or place.counted != LINK
            or bool(self.maps)
            or bool(place.module and self.first_of(place.module))
            or (self.code_at is not None and self.code_at[1] <= address < self.code_at[2])
            or self.library_at(address) is not None
        )

    def bias_of(self, module: str) -> int | None:
        """Runtime address minus link address, where a line told both."""
        return self._biases.get(module)

    def note(self, place: Place) -> None:
        """What a place tells of its module."""
        if place.module and place.build_id:
            self.tell_build_id(place.module, place.build_id)
        known = place.address is not None and place.offset is not None
        if known and place.module and place.counted == LINK and len(self._biases) < _MOST_NAMES:
            assert place.address is not None and place.offset is not None
            self._biases[place.module] = place.address - place.offset

    def learn(self, line: str) -> bool:
        """Whether the line is one of those that tell of the process and of no place in it."""
        mapping = parse_mapping(line)
        if mapping is not None:
            self.in_list = True
            if "PERF_RECORD" in line:
                self.in_list = False
                self.maps.insert(mapping)
            else:
                self.maps.add(mapping)
            return True
        known = self._learn_module(line)
        if self.in_list and not known and not line.startswith("      /"):  # lldb's debug files
            self.in_list = self.waits = self.in_crash = False
        return known

    def _learn_from_systemd(self, line: str) -> bool:
        before, _, behind = line.partition(_WITH_ID)
        module = before.rpartition("Module ")[2]
        found = _ID.match(behind)
        if found is None or len(module) == len(before):
            return False
        self.tell_build_id(module, found[0])
        return True

    def _learn_image(self, found: re.Match[str]) -> None:
        self.in_list = True
        self.tell_build_id(found["path"], found["id"].replace("-", "").lower())
        if len(self.first_at) < _MOST_NAMES:
            self.first_at[found["path"]] = int(found["base"], 16)

    def first_of(self, module: str) -> tuple[str, int] | None:
        """The path of a file of this name, and the runtime address of its first byte."""
        name = module.rsplit("/", 1)[-1]
        for path, base in self.first_at.items():
            if path == module or ("/" not in module and path.rsplit("/", 1)[-1] == name):
                return path, base
        return None

    def _learn_module(self, line: str) -> bool:
        if "/" not in line and "build-id" not in line and "build id" not in line:
            return False
        found = _MODULE.search(line)
        if found:
            self.in_list = True
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
            if len(self.listed_at) < _MOST_NAMES:
                self.listed_at[found[3]] = int(found[1], 16), int(found[2], 16)
            self.in_list = True
            return True
        found = _IMAGE.match(line) if line.lstrip().startswith("[") else None
        if found:
            self._learn_image(found)
            return True
        found = _CODE.search(line) if "Address mapping: " in line else None
        if found:
            self.code_at = found[3], int(found[1], 16), int(found[2], 16)
            self.in_list = True
            return True
        found = _EXECUTABLE.match(line)
        if found:
            self.program = found[1]
        return found is not None

"""The image of a process with its backtraces: the engine behind every command and the API."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.model import Backtrace, Report
from whocall.base.module_warnings import complaint, warnings_by_module
from whocall.base.native_backtraces import Head, TraceList
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native
from whocall.base.records import dataclass
from whocall.base.signals import signal_name, tells_of_a_crash

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import TracebackType

_GREATEST_PID = (1 << 22) - 1  # the kernel's own limit, PID_MAX_LIMIT


@dataclass(frozen=True)
class Walk:
    """How to walk and how much to show."""

    without: tuple[str, ...] = ()
    max_frames: int = 1 << 20
    explain: bool = False
    registers: bool = False
    lines: bool = True
    demangle: bool = True
    past_main: bool = False
    count: int | None = None


class ProcessImage:
    """A core, a stopped process or gdb's inferior. Closing it lets a live process go on."""

    def __init__(self, process: native.Process) -> None:
        self.native = process
        self.arch: str = process.arch
        self.pointer_size: int = process.pointer_size
        self.word_size: int = process.word_size
        self.byte_order: str = process.byte_order
        self._code: list[tuple[int, int]] | None = None  # what can be executed, by address
        self._name = ""  # of a core that was unpacked or made of something else
        self._remarks: list[str] = []
        self.origin: Mapping[str, str] = {}  # what the reporter of the crash noted, in its words
        self._as_core: Callable[[], str] | None = None
        self.files_root = ""  # a directory that stands for the sysroot, where that was an image

    def __enter__(self) -> ProcessImage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets a live process go on; the image is unusable afterwards."""
        for kept in ("threads", "modules"):  # they hold on to the process
            self.__dict__.pop(kept, None)
        self.native.close()
        self._as_core = None  # it may hold a file

    @property
    def core_path(self) -> str | None:
        """The core file as the user calls it; None for a live process."""
        return self._name or self.native.core_path or None

    def came_as(
        self,
        name: str,
        origin: Mapping[str, str],
        remarks: Sequence[str],
        as_core: Callable[[], str] | None,
    ) -> None:
        """It was read of the input `name`. `remarks` are sentences on what is wrong with that,
        `origin` what came with it. `as_core` is asked for the path of a plain core, where it is
        none itself, and what it stands on has to live as long as this.
        """
        self._name = name
        self._remarks = list(remarks)
        self.origin = dict(origin)
        self._as_core = as_core

    def plain_core(self) -> str:
        """The path of a core of it that debuggers read, as long as this lives. Raises Error."""
        return self.native.core_path if self._as_core is None else self._as_core()

    @property
    def exe_path(self) -> str | None:
        """The program's file, when it is known."""
        return self.native.exe_path or None

    @cached_property
    def threads(self) -> list[native.Thread]:
        """All threads, in the order of the core or of /proc."""
        return self.native.threads

    @cached_property
    def modules(self) -> list[native.Module]:
        """All loaded files, by address."""
        return self.native.modules

    @property
    def own_warnings(self) -> list[str]:
        """What is wrong with the core, without its files, a sentence each."""
        if not self._name:
            return self.native.warnings
        made = self.native.core_path
        return self._remarks + [line.replace(made, self._name) for line in self.native.warnings]

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the process image and its files, a sentence each."""
        said = list(self.own_warnings)
        for module in self.modules:
            sentence = complaint(module)
            if sentence is not None and not any(module.path in other for other in said):
                said.append(sentence)
        return said + self.native.name_warnings

    def executables(self) -> set[str]:
        """Every path under which a frame may name the main program."""
        main = [module for module in self.modules if module.is_executable]
        return {path for module in main for path in (module.path, module.file_path) if path}

    def index_of_crash(self) -> int:
        """Index of the thread to show first: the crashed one, else the first."""
        return next((at for at, thread in enumerate(self.threads) if thread.crashed), 0)

    def index_of_lwp(self, lwp: int) -> int:
        """Index of the thread with the kernel's id `lwp`."""
        for at, thread in enumerate(self.threads):
            if thread.lwp == lwp:
                return at
        raise Error(f"there is no thread with LWP {lwp} in the process")

    def backtrace(self, index: int, walk: Walk | None = None) -> Backtrace:
        """The call chain of threads[index]."""
        return self._walked([index], {}, walk or Walk())[0]

    def report(
        self,
        indices: Iterable[int] | None = None,
        walk: Walk | None = None,
        numbers: Mapping[int, int] | None = None,
    ) -> Report:
        """The backtraces of threads[i] for the `indices`; of all threads without them. `numbers`
        are what to call them by, their own where one is not among those.
        """
        if not self.threads:
            raise Error("the process has no threads: nothing to show")
        chosen = range(len(self.threads)) if indices is None else indices
        traces = self._walked(chosen, numbers or {}, walk or Walk())
        return Report(
            arch=self.arch,
            threads=traces,
            core=self.core_path,
            exe=self.exe_path,
            warnings=warnings_by_module(self, dict(traces.found.frames_by_module())),
            pointer_size=self.pointer_size,
            origin=self.origin,
        )

    def _heads(self, indices: Iterable[int], numbers: Mapping[int, int]) -> list[Head]:
        """Only a core tells which thread crashed; of a live program its signal does."""
        told = self.native.thread_heads
        signals = {signal for _, _, signal in told}
        names = {signal: signal_name(self.arch, signal) or "" for signal in signals}
        lives = self.core_path is None
        heads = []
        for index in indices:
            number, crashed, signal = told[index]
            name = names[signal]
            fault = crashed or (lives and tells_of_a_crash(name))
            heads.append((index, numbers.get(index, number), fault, name))
        return heads

    def _walked(self, indices: Iterable[int], numbers: Mapping[int, int], walk: Walk) -> TraceList:
        heads = self._heads(indices, numbers)
        most = walk.max_frames
        if walk.count is not None and walk.count > 0:
            most = min(most, walk.count + 1)  # one more, to see whether there are more
        with native_errors():
            options = native.WalkOptions(
                without=list(walk.without),
                max_frames=most,
                explain=walk.explain,
                registers=walk.registers,
                lines=walk.lines,
                demangle=walk.demangle,
                past_main=walk.past_main,
            )
            found = self.native.walk_threads(heads, options, walk.count)
        return TraceList(found, heads, self.threads)

    def wrapped(self, address: int) -> int:
        """The address as a pointer of the process holds it: debuggers hold those above the middle
        of the address space as negative numbers too.
        """
        return address & ((1 << self.pointer_size * 8) - 1)

    def read(self, address: int, size: int) -> bytes:
        """As many bytes as can be read from `address` on, at most `size`."""
        return self.native.read(address, size)

    def word_at(self, address: int | None) -> int | None:
        """The pointer-sized word at `address`; None when it cannot be read."""
        if address is None:
            return None
        data = self.read(address, self.pointer_size)
        if len(data) < self.pointer_size:
            return None
        return int.from_bytes(data, "big" if self.byte_order == "big" else "little")

    def module_states(self) -> dict[str, str]:
        """The states of the modules by every path that a frame may name them by."""
        return {
            path: module.state
            for module in self.modules
            for path in (module.path, module.file_path)
            if path
        }

    def may_be_code(self, return_address: int) -> bool:
        """False when the bytes before `return_address` cannot be executed: nothing called there.

        True when the memory map is not known.
        """
        ranges = self.code_ranges()
        at = bisect_right(ranges, (return_address - 1, 1 << 64)) - 1
        return not ranges or (at >= 0 and return_address - 1 < ranges[at][1])

    def code_ranges(self) -> list[tuple[int, int]]:
        """Where code may lie, half-open, by runtime address; none when the map is not known."""
        if self._code is None:
            self._code = sorted(
                (mapping.begin, mapping.end)
                for mapping in self.native.mappings
                if "x" in mapping.permissions
            )
        return self._code


def open_core(path: str, exe: str = "", *, search: Search = Search()) -> ProcessImage:
    """Opens a core file. `exe` is the program; without it the core's own notes name it.

    Raises Error.
    """
    with native_errors():
        return ProcessImage(native.open_core(os.fsencode(path), search.native(exe)))


@dataclass(frozen=True)
class ToldCrash:
    """What a process tells of its crash, while it stands in the handler."""

    lwp: int
    registers: dict[str, int]  # by gdb's names, as the kernel handed them to the handler
    signal: int
    code: int | None  # si_code
    address: int | None  # si_addr of a fault
    sender: int | None  # si_pid of who sent it


def open_process(
    pid: int, *, search: Search = Search(), crash: ToldCrash | None = None
) -> ProcessImage:
    """Attaches to a process and stops it until close(); what is known of its `crash` counts, and
    not that its thread is in a handler. Raises Error.
    """
    if not 0 < pid <= _GREATEST_PID:
        raise Error(f"there is no process {pid}: process ids are 1 to {_GREATEST_PID}; see `ps -e`")
    told = None
    if crash is not None:
        info = crash.code, crash.address, crash.sender
        told = crash.lwp, crash.registers, crash.signal, info
    with native_errors():
        return ProcessImage(native.open_process(pid, search.native(), told))


def open_file_image(path: str, *, search: Search = Search()) -> ProcessImage:
    """A file that nobody runs, as if loaded at its link addresses. Raises Error."""
    with native_errors():
        return ProcessImage(native.open_file(os.fsencode(path), search.names_only().native()))


def open_symbols(path: str, *, search: Search = Search()) -> native.SymbolTable:
    """The sorted function table of an object file, at link addresses. Raises Error.

    The names that `search` has for it beside its own, such as those of its separate debug file, are
    among it.
    """
    with native_errors():
        return native.open_symbols(os.fsencode(path), search=search.names_only().native())


def open_names(path: str, *, search: Search = Search()) -> native.FileNames:
    """What stands at link addresses of an object file, inferred names too. Raises Error."""
    with native_errors():
        return native.FileNames(os.fsencode(path), search.names_only().native())

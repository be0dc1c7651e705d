"""The native module: what C++ gives to Python. Addresses are ints; ranges are half-open."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from typing_extensions import Buffer

from whocall.base.model import TextForm

__version__: str

_Path = str | bytes  # bytes as the system has them; names need not be UTF-8

class Error(Exception):
    """Opening or parsing failed; str() is the whole sentence."""

    path: str
    reason: str
    remedy: str

class FileSearch:
    """Where to look for files that a process names."""

    exe: _Path
    sysroot: _Path
    directories: Sequence[_Path]
    debug_directories: Sequence[_Path]
    symbol_files: Sequence[_Path]
    signature_files: Sequence[_Path]
    @property
    def debuginfod(self) -> bool: ...
    def ask_debuginfod(self, progress: Callable[[str, int, int], None] | None = None) -> None:
        """From now on servers are asked for what is missing; Ctrl-C ends a fetch."""
    def fetch(self, build_id: str, name: str) -> tuple[str, str]:
        """The path of a file of this build (hex), with debug info if servers have it; else "" and
        why, if there is something to say. `name` is how to speak of it."""

def build_signatures(paths: Sequence[_Path]) -> tuple[bytes, dict[str, Any], list[str]]:
    """A signature file's contents made of static libraries and of linked files, its summary, and
    remarks on what of them says nothing."""

def signature_summary(path: _Path) -> dict[str, Any]:
    """ "arch", and the numbers of "members", "sections", "builds" (linked files) and "functions" in
    a signature file."""

class WalkOptions:
    """How to walk. `without` names strategies: "pclntab", "cfi", "frame-pointer", "signal-frame",
    "call-entry", "scan". An unknown name raises ValueError that lists the known ones. Without
    `past_main`, the callers of the program's main have no lines."""

    def __init__(
        self,
        without: Sequence[str] = (),
        max_frames: int = 1 << 20,
        explain: bool = False,
        registers: bool = False,
        lines: bool = True,
        demangle: bool = True,
        past_main: bool = True,
    ) -> None: ...

def strategies() -> list[str]:
    """Names of all strategies, in the order in which the walker asks them."""

def gap_line(begin: int, end: int, period: int) -> str:
    """What stands in the place of what text leaves out."""

def stop_line(reason: str, detail: str) -> str:
    """Why a walk ended; empty for a clean end. A reason that is none raises ValueError."""

def end_phrase(reason: str, detail: str) -> str:
    """Why it ended cleanly; empty where stop_line() says why."""

def title_line(
    numbers: Sequence[int], lwps: Sequence[int], name: str, signal: str, inferior: str
) -> str:
    """What stands over threads with one stack; name and signal are those of the first one, and
    `inferior` stands before threads' numbers."""

def number_runs(values: Sequence[int]) -> str:
    """`2..4, 7`: rising runs of three and more shortened."""

class Thread:
    number: int
    lwp: int
    name: str
    crashed: bool
    signal: int
    # Of that signal: its code, the address of a fault, the process that sent it; the last two are
    # parts of the same bytes, of which the code tells how to read them. None: the dump has it not.
    signal_info: tuple[int | None, int | None, int | None] | None
    pc: int
    sp: int
    registers: dict[str, int]

class Mapping:
    begin: int
    end: int
    offset: int
    permissions: str  # "r-x"
    permissions_known: bool  # no: any of it may be readable and code
    path: str

class Module:
    index: int
    path: str
    file_path: str
    begin: int
    end: int
    bias: int
    build_id_in_memory: str
    build_id_on_disk: str
    state: str  # "found", "missing", "MISMATCH", "in memory"
    remark: str
    has_stand_in: bool
    is_executable: bool

class ModuleReport:
    """What `whocall modules` tells beyond Module; reading it opens the module's tables."""

    symbol_sources: dict[str, int]  # source -> number of functions
    code_bytes: int  # bytes in executable sections (or segments)
    cfi_bytes: int  # of these, covered by FDEs
    has_debug_info: bool
    remark: str  # why a debug file that was there lends no names; "" when none was refused
    debug_file: str  # path of the separate debug file that lends names; "" without one

class FrameFields:
    """Names of fields of frames. An unknown one raises ValueError."""

    def __init__(self, names: Sequence[str]) -> None: ...

class FrameClass:
    """A class whose `__slots__` are fields of frames, to make objects of it without a call of its
    `__init__`.
    """

    def __init__(self, type: type) -> None: ...

class Backtrace:
    """Frames, which leave it many at a time. Their fields are those of whocall.base.model.Frame;
    `wanted` counts frames, innermost first.
    """

    def __len__(self) -> int: ...
    def rows(self, fields: FrameFields, wanted: range) -> list[tuple[Any, ...]]: ...
    def gaps(self, wanted: range) -> list[tuple[int, int, int]]:
        """Begin, end and period of what text leaves out of these frames."""
    def objects(self, type: FrameClass, wanted: range) -> list[Any]: ...

class ThreadsReport:
    """Backtraces of threads as far as they are shown; numbers count these threads."""

    def __init__(self, shown: Sequence[tuple[Backtrace, range, int, bool, str, str, str]]) -> None:
        """Frames of walks of one process, each with its thread's number, whether that crashed, its
        signal, why the frames end and a detail. ValueError where they are none such."""
    def __len__(self) -> int: ...
    def trace(self, number: int) -> tuple[Backtrace, range, str, str]:
        """The whole walk, which of its frames are shown, the reason why these end and a detail."""
    def frames_by_module(self) -> list[tuple[int, int]]:
        """Which modules the shown frames lie in, and how many; inlined calls are part of theirs."""
    def groups(self) -> list[list[int]]:
        """Which threads are told together."""
    def resting(self, number: int) -> str:
        """How many frames of a thread rest on a search; empty for none."""
    def text(self, form: TextForm, style: dict[str, str]) -> Iterator[str]:
        """Lines, some 64 KiB at a time. `style` has SGR parameters by role."""
    def json(self, margin: int, arguments: bool, last_words: str) -> Iterator[str]:
        """The items of a JSON list that stand behind `margin` spaces, some 64 KiB at a time. The
        last words are as in TextForm, and are left out where arguments are."""

class RepairFile:
    """An ELF file that a debugger takes for the separate debug file of a module."""

    bytes: memoryview  # empty when there is nothing to tell
    named: int
    unnamed: int
    functions: list[int]  # link addresses of those whose rules it has
    complete: bool  # none that needs rules is left over

class Place:
    """What stands at an address."""

    address: int
    module: str | None
    build_id: str | None
    rva: int | None
    section: str | None
    function: str | None
    offset: int | None
    size: int | None
    name_source: str | None
    inferred: bool
    aliases: list[str]  # other names at the same start, raw
    raw_name: str | None  # mangled
    lines: list[tuple[str, str, int]]  # (function, file, line), innermost inlined call first
    absolute_files: list[str]  # of these lines, as gdb's `set filename-display absolute` has them
    proof: str | None  # of an inferred name: what shows it
    # of a function that nothing names: the exported function that alone calls it, the text that it
    # alone uses, the functions of other files that it calls; looks through all code of the file
    traits: tuple[str | None, str | None, list[str]] | None
    # places in the source that the function's code names, where no line is known: (file, line,
    # column, link address, crate, module, near)
    source_hints: tuple[tuple[str, int, int | None, int, str | None, str | None, bool], ...]
    # (name, source, start, reason): the nearest symbol where it did not give its name
    refused: tuple[str, str, int, str] | None

class FileNames:
    """What stands at the link addresses of one file of any format; of a Breakpad file, which lists
    another's names, at addresses that count from the other's first byte."""

    path: str
    remark: str  # why something that was to lend names does not; "" when nothing was refused

    def __init__(self, path: _Path, search: FileSearch = ...) -> None: ...
    def describe(self, address: int, demangle: bool = True) -> Place: ...

class Scene:
    """The moment of a crash, as `native/report/causes/scene.h` has it. Runtime addresses."""

    code: int | None  # si_code
    fault: tuple[int, str] | None  # the address that the fault is about, and what shows it
    fault_access: tuple[str, int] | None  # "read", ..., and the bytes or 0, where that is proven
    is_nowhere: bool  # it is proved that no code is at pc
    instruction: str | None  # at pc, as assemblers write it
    meaning: str | None  # of the code
    was_sent: bool  # by a process
    sender: int | None
    # Of the instruction: address, size in bytes, whether it is written or None for either.
    accesses: list[tuple[int, int, bool | None]]
    writes: list[bool | None]  # the same of each of its operands in memory
    operand: int | None  # the value of its only one
    used_up_stack: tuple[int, int] | None  # begin, end
    may_be_used_up: bool

    def facts(self) -> list[tuple[str, str, str]]:
        """Kind, text and proof of each cause that is proven, the most telling first."""
    def referred_text(self, level: int, wanted: Sequence[bytes]) -> int | None:
        """The number of the first of the texts that the code of a frame's function refers to."""

class ToldArguments:
    """What functions on stacks were handed, for debuggers (`native/report/told_arguments.h`)."""

    def file(self, modules: Sequence[int]) -> tuple[bytes, int]:
        """The contents of a symbol file for the process, or nothing, and of how many functions of
        these modules it tells."""

class Process:
    """A core, a stopped live process, or gdb's inferior."""

    arch: str
    pointer_size: int  # bytes
    word_size: int  # bytes of a register, as calls and prologues save it on the stack
    byte_order: str  # of data: "little" or "big"
    pc_name: str  # gdb's names of the registers that hold the program counter
    sp_name: str  # and the stack pointer
    core_path: str
    exe_path: str
    pid: int
    warnings: list[str]
    name_warnings: list[str]  # on lists of names, and logs of JIT compilers, that lend none
    threads: list[Thread]
    modules: list[Module]
    mappings: list[Mapping]
    partial_map: bool  # there was more than the mappings tell: what they lack proves nothing
    thread_heads: list[tuple[int, bool, int]]  # number, crashed and signal of each thread

    def walk_threads(
        self,
        heads: Sequence[tuple[int, int, bool, str]],
        options: WalkOptions,
        count: int | None = None,
    ) -> ThreadsReport:
        """Walks the stacks of the threads of these indices; beside each stand its number, whether
        it crashed and its signal. Shown are the innermost `count` frames, or the outermost -count,
        and, without `past_main`, none that called main. KeyboardInterrupt passes through."""
    def scene(self, walk: Backtrace, signal: str) -> Scene:
        """Of the thread that was walked, whose signal has this name, or none."""
    def describe(
        self, address: int, demangle: bool = True, lines: bool = True, refused: bool = True
    ) -> Place:
        """Without `refused` as frames are described: no look through a file for that alone."""
    def report(self, module: int, fetch: bool = False) -> ModuleReport:
        """Only with `fetch` is debuginfod asked for the debug info of a module that nobody has
        looked into."""

    def symbols(self, module: int) -> SymbolTable: ...
    def functions(self, module: int) -> FunctionList: ...
    def jit_functions(self) -> FunctionList:
        """Of code without a file; runtime addresses."""
    def jit_objects(self) -> list[tuple[str, int, int, int, int]]:
        """(path, size in bytes, begin and end of the code, number of functions) of the ELF files
        in memory that JIT compilers registered for debuggers; runtime addresses."""
    def read(self, address: int, size: int) -> bytes:
        """As many bytes as can be read from `address` on, at most `size`."""
    def waits_text(
        self, numbers: Sequence[tuple[int, int]], inferior: str, style: dict[str, str]
    ) -> list[str]:
        """What threads wait for, as lines, some 64 KiB at a time. `numbers` are indices of threads
        and what to call them by; `style` has SGR parameters by role."""
    def waits_json(self, numbers: Sequence[tuple[int, int]], core: str, exe: str) -> list[str]:
        """The same as a JSON document."""
    def listing(
        self, at: int, start: int | None = None, before: int = 12, after: int = 6
    ) -> list[tuple[int, bytes, str, int | None]]:
        """(address, bytes, text, target of a direct call or jump) of at most `before` instructions
        in front of the one at `at`, decoded from `start` on, the function's, and of `after` from
        there on. No text: the bytes are no instruction. Runtime addresses."""
    def operations(
        self, begin: int, size: int, most: int
    ) -> list[tuple[int, int, str, str, str, list[tuple[int, int, int, str, str, int, bool, int]]]]:
        """(address, bytes, "call", "jump", "leave" or "next", mnemonic, operands as text, operands)
        of at most `most` instructions in `size` bytes from the runtime address `begin` on; bytes
        that are none are passed over. An operand: 1 for a register, 2 a number, 3 memory, 0 what
        else; 1 if it is read + 2 if it is written, 0 where that is not known; bytes that are
        accessed; register or base; index; its scale, 0 where it is changed in another way; whether
        a segment's begin is added; number or distance."""
    def told_arguments(self, walks: Sequence[Backtrace]) -> ToldArguments: ...
    def repair_file(
        self,
        module: int,
        names: bool = True,
        debug_names: bool = True,
        own_names: bool = False,
        rows: bool = True,
        wanted: Sequence[int] = (),
        budget: int = 0,
        known: Collection[int] = (),
        ends: Sequence[int] = (),
        repeat_names: bool = False,
        beside: bool = False,
    ) -> RepairFile:
        """Names and unwinding rules of modules[module] as an ELF file for debuggers.

        Rules are for functions that no table covers: first those at the runtime addresses `wanted`,
        then others until so much code was analysed (bytes); not those at the link addresses
        `known`. At the runtime addresses `ends` stacks end, whatever else is told. With
        `debug_names` what a separate debug file names is named too, with `own_names` what the
        module itself names, for debuggers that cannot read it; so with `repeat_names` where there
        are rules. `beside` is for a gdb that looks up names elsewhere."""
    def symbol_at(self, address: int) -> tuple[str, int] | None:
        """The function at a runtime address by symbols alone, and the bytes from its start."""
    def variable(self, module: int, name: str) -> int | None:
        """The runtime address of a variable that the symbol tables of modules[module] name."""
    def close(self) -> None:
        """Lets a live process go on; the object is unusable afterwards."""

class Symbol:
    start: int  # link address
    end: int
    name: str  # mangled; "sub_1136" where only the bounds are known
    source: str
    named: bool
    inferred: bool

class SymbolTable:
    """The sorted function table of one file; addresses are link addresses."""

    path: str
    build_id: str
    format: str  # "elf64-x86-64" or libbfd's name of it

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Symbol: ...
    def find(self, address: int) -> int | None: ...
    def find_many(self, addresses: Buffer | Sequence[int]) -> bytes:
        """Batched look-up: a list, or a buffer of native-endian uint64 in, a buffer of uint32 out
        (0xffffffff: nothing covers the address)."""
    def aliases(self, index: int) -> list[Symbol]: ...
    def lines_at(self, address: int) -> list[tuple[str, str, int]]: ...

class FunctionList:
    """All functions of one file, also those that only the code shows; link addresses."""

    build_id: str
    remark: str  # why something that was to lend names does not; "" when nothing was refused

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> tuple[int, int, str, str, bool, list[str], bool]:
        """(start, end, raw name, source, whether it is a name, witnesses best first, whether the
        name is inferred)."""
    def names(self, begin: int, end: int, demangled: bool) -> tuple[list[str], list[str]]:
        """Of the functions from `begin` up to `end`, or as many as are not too long together, the
        names to show and the raw ones; where they are the same, the same object."""
    def longest_source(self, chosen: Buffer | None = None) -> int:
        """Characters of the longest source of the functions with these indices (uint64)."""
    def pieces(self, form: FunctionForm, chosen: Buffer | None = None) -> Iterator[str]:
        """Those functions, or all, as text or as items of a JSON array."""

class FunctionForm:
    """How functions are written."""

    json: bool
    demangled: bool
    bias: int  # is added to link addresses
    mask: int  # of a pointer's bits
    digits: int  # of addresses; this and what follows for text only
    width: int  # characters of the column of sources
    columns: int  # of the screen; 0: lines have no end
    mark: str  # stands behind inferred names
    # What stands before and behind a text of a role.
    address: tuple[str, str]
    metadata: tuple[str, str]
    function: tuple[str, str]

class TraceThread:
    """A thread that called instrumented functions. Times are nanoseconds of CLOCK_MONOTONIC."""

    pid: int
    tid: int
    name: str
    lives: bool  # was there when the image was made
    sees_no_returns: bool  # its hooks stand at the beginnings of functions alone
    events: int  # that it recorded
    next_event: int  # the number behind that of the last one that can be read
    registered: int  # when it first called
    serial: int  # in the order in which threads first called
    ring_capacity: int  # of these the ring holds the last so many at most
    lost: int  # that the ring holds no more

    def events_from(self, first: int) -> int:
        """How many from that number on can be read."""

    calls: int  # of those that it holds
    returns: int
    damaged: int
    overflow: int  # live activations beyond the shadow stack's capacity
    began: int  # the first event that the ring holds; 0 without events
    ended: int
    stack: list[tuple[int, int, int, int]]
    """Live activations, outermost first: first byte of the function, return address, sp, CFA."""

class TraceProfile:
    """Times are nanoseconds, self times without those of calls."""

    functions: list[tuple[int, int, int, int]]  # function, calls, total, self
    edges: list[tuple[int, bool, int, int, int]]
    """Return address (or, where that is True, the function that the callee is inlined into),
    whether inlined, callee, calls, total."""
    is_folded: bool  # the deepest contexts are counted to those around them
    def nodes(self, least: int) -> list[tuple[int, int, int, int, int]]:
        """Contexts with a total of at least so much, behind their parents: index of the parent
        (-1: none), function, calls, total, self."""
    def folded(self) -> Iterator[str]:
        """Lines such as "main;work;leaf 1234", many together."""

class Trace:
    """The calls that a program recorded. `threads` of its methods are indices; `functions` and
    `call_sites` what runtime addresses are called; without `roots` and `visible` all functions are
    told, else those below roots, and visible ones, which lasted for `shortest` nanoseconds."""

    threads: list[TraceThread]
    remarks: list[str]  # on what was left out
    maps: bytes  # of a file: lines of /proc/PID/maps
    arch: str | None  # of a file; None where it is not known
    origin: int  # of all threads' first events the earliest, nanoseconds of CLOCK_MONOTONIC
    functions: list[int]  # first bytes of all functions
    call_sites: list[int]  # return addresses of all calls

    def tell_homes(self, homes: dict[int, int]) -> None:
        """Of functions and call sites, where the function around each begins, as far as known."""

    def text(
        self,
        threads: Sequence[int],
        functions: dict[int, str],
        call_sites: dict[int, str],
        most_depth: int | None = None,
        roots: set[int] | None = None,
        visible: set[int] | None = None,
        shortest: int = 0,
        paint: Sequence[str] = (),
        part: tuple[list[int], int, bool] = ...,
    ) -> Iterator[str]:
        """Whole lines, many together. `paint`: what stands before functions, metadata and
        highlights, and behind each."""
    def json(
        self,
        threads: Sequence[int],
        functions: dict[int, str],
        call_sites: dict[int, str],
        most_depth: int | None = None,
        roots: set[int] | None = None,
        visible: set[int] | None = None,
        shortest: int = 0,
    ) -> Iterator[str]: ...
    def profile(
        self,
        threads: Sequence[int],
        functions: dict[int, str],
        call_sites: dict[int, str],
        most_depth: int | None = None,
        roots: set[int] | None = None,
        visible: set[int] | None = None,
        shortest: int = 0,
    ) -> TraceProfile: ...

def trace_of_process(process: Process) -> Trace:
    """Raises Error when there is none in its memory."""

def trace_of_file(path: _Path) -> Trace: ...
def is_trace_file(path: _Path) -> bool: ...
def functions(path: _Path, search: FileSearch = ...) -> FunctionList:
    """The function table of any object file; libbfd reads what is not ELF."""

def tell_of_long_work(
    tell: Callable[[str, float | None], None] | None, patience: float = 1.0, interval: float = 0.1
) -> None:
    """From now on, when `patience` (seconds) has passed, `tell` is called every `interval` with
    what native code is about ("Reading the symbols of /bin/prog"), and with what share of it is
    done, 0 to 1, where it knows."""

def cut_files() -> tuple[int, str]:
    """How many files have become shorter while they were mapped, since the process began, and the
    last one's path. What was read of them is zeros."""

class MinidumpAsCore:
    """A minidump, or a log with a microdump, that a core is made of. Bytes of names need not be
    UTF-8."""

    def __init__(self, file: int, name: _Path) -> None:
        """Maps what is open under the descriptor, which may be closed then; `name` is what to call
        it. Raises Error."""

    is_microdump: bool
    arch: str
    modules: list[tuple[int, int, str, str]]  # begin, end, path and build id (hex or ""), runtime
    threads: int
    fields: dict[str, str]  # what stores of crashes tell too, in their words
    remarks: list[str]  # on what is damaged: no sentences, the first few
    held: int  # bytes of memory in the core that would be written now
    def place_libraries(self, sysroot: _Path) -> None:
        """Looks anew for the files of libraries that are known by name and build id alone."""
    def take_program(self, exe: _Path) -> bool:
        """Takes the file for the program of a dump that lists no modules; whether that was done."""
    def add_files(self, files: dict[int, bytes]) -> None:
        """The files of modules, by an address in each: says what of them was mapped. Once."""
    def image(self, search: FileSearch) -> Process:
        """The process as such a core would tell it. Raises Error."""
    def write(self, file: int, folder: _Path) -> None:
        """Writes the core to the descriptor; `folder` is where files without names lie, for
        complaints. Raises Error."""

class ShrinkableCore:
    """A core of which a smaller one is made that holds what was read of it."""

    def __init__(self, path: _Path) -> None:
        """Raises Error."""
    def image(self, search: FileSearch) -> Process:
        """The process, whose memory is recorded as it is read. Once. Raises Error."""
    def keep(self, begin: int, end: int) -> None:
        """Keeps memory that nobody read: a frame's stack, runtime addresses."""
    def keep_code(self, pc: int) -> None:
        """Code is run there: the image of its module is kept, where it lies in memory alone."""
    def keep_signal(self, sp: int) -> None:
        """A signal handler returns there: what shows that registers lie on the stack is kept."""
    def write(self, process: Process, file: int, folder: _Path, private: bool) -> None:
        """Writes the smaller core of the process that image() gave to the descriptor; `folder` is
        where files without names lie, for complaints. Raises Error."""

def kind_of_input(head: bytes) -> str:
    """Of a file that begins so: "core", "elf" (another ELF file), "minidump", "microdump",
    "apport", what it is packed with, or ""."""

class PackedCrash:
    """A crash as it comes: packed, in a report, packed again. Errors' reasons go on from the path:
    `core.gz cannot be unpacked`."""

    def __init__(self, file: int, name: _Path) -> None:
        """Takes off what is packed, as far as it tells what is inside. The descriptor of a file or
        a pipe, read from where it stands, has to stay open. Raises Error."""

    kind: str  # "core", "minidump" or "microdump"
    fields: dict[str, str]  # of a report
    damage: str  # once it is written, why not to its end; or ""
    def write(self, out: int, folder: _Path) -> int:
        """Writes what is inside to the empty file; `folder` is where files without names lie, for
        complaints. Once. Returns the size, bytes. Raises Error."""

class FilePart:
    """A stretch of a file, which has to stay open, unpacked where it is packed. Errors as those of
    PackedCrash."""

    def __init__(self, file: int, name: _Path, offset: int, size: int) -> None: ...
    def read(self, size: int) -> bytes:
        """Less only at the end."""
    def skip(self, size: int) -> bool:
        """Whether so many bytes were there."""
    def write(self, out: int, folder: _Path) -> int:
        """Writes what was not read to the empty file. Returns its size, bytes."""
    damage: str  # at its end, why that is no good one; or ""

class SparseFile:
    """An empty file to which pieces are written, pages of zeros as holes, within the limit."""

    def __init__(self, file: int, folder: _Path, name: _Path) -> None: ...
    def write(self, piece: bytes) -> None:
        """Raises Error."""
    def end(self) -> int:
        """Makes it as long as what was written; returns that, bytes."""

def require_size(size: int, name: _Path) -> None:
    """Raises Error where so many bytes are more than what `name` may unpack to."""

def require_room(size: int, name: _Path, folder: _Path, file: int) -> None:
    """Raises Error where so many bytes are not to be written, to the file or, where that is -1, to
    files in the folder."""

def library_folders() -> tuple[list[str], list[str], list[str]]:
    """Where dynamic linkers look, below the root; folders in which others are that end like this:
    those, and the ends."""

def restrict_self(
    writable: Sequence[bytes],
    *,
    network: bool,
    programs: bool,
    processes: bool,
    children: bool,
) -> None:
    """Of this thread and all that it starts, for good, as far as the kernel has Landlock and
    seccomp: files are read; written are those that are `writable`, or lie below. Other machines
    are reached only with `network`, programs started with `programs`, what others have in memory
    read with `processes`, processes that this one has forked ended with `children`."""

def end_with_parent(parent: int) -> bool:
    """The kernel ends this process when `parent`, which forked it, has ended. False where it has
    already."""

def sandbox_support() -> tuple[int, bool]:
    """The kernel's version of Landlock, 0 for none, and whether it filters system calls."""

def take_exhausted_budgets() -> list[str]:
    """Sentences on what was left out since the last call, as it would have cost too much."""

def checksum(bytes: Buffer, before: int = 0) -> int:
    """Of 64 bits; goes on from that of what came `before`."""

def open_file(path: _Path, search: FileSearch = ...) -> Process:
    """A file that nobody runs, as if loaded at its link addresses: one module, no threads."""

def open_core(path: _Path, search: FileSearch = ...) -> Process: ...
def open_process(
    pid: int,
    search: FileSearch = ...,
    crash: tuple[int, dict[str, int], int, tuple[int | None, int | None, int | None]] | None = None,
) -> Process:
    """Attaches and stops the process until close() or the object's end."""

def loaded_files(
    arch: str,
    auxiliary: dict[int, int],
    read_memory: Callable[[int, int], bytes],
    program: str,
) -> list[tuple[str, int, bool]]:
    """(path, bias, is_executable) of `program` and of what it has loaded, by the target's own
    paths; auxiliary: values by AT_ number; read_memory as for open_inferior."""

def open_inferior(
    arch: str,
    pid: int,
    threads: Sequence[tuple[int, int, str, int, dict[str, int]]],
    mappings: Sequence[tuple[int, int, str, int, bytes]],
    files: Sequence[tuple[bytes, int, bool]],
    vdso: int | None,
    read_memory: Callable[[int, int], bytes],
    search: FileSearch = ...,
    is_local: bool = False,
    signature_bits: int = 0,
    signal_info: dict[int, tuple[int, int, int]] = ...,
) -> Process:
    """gdb's inferior. threads: (number, lwp, name, signal, registers by gdb's names); mappings:
    (begin, end, "r-x", offset, path); files: (path, bias, is_executable); read_memory(address,
    size) gives up to `size` bytes, b"" when unreadable; is_local: /proc/PID is its own;
    signature_bits: those of code pointers that hold a signature, 0 when not known; signal_info:
    si_code, si_addr and si_pid by number of the thread."""

def open_symbols(path: _Path, search: FileSearch = ..., with_plt: bool = True) -> SymbolTable:
    """The function table of any object file; libbfd reads what is not ELF. Of `search` only the
    sysroot and the debug directories count."""

def demangle(name: str) -> str: ...

NAME_FORMS: int

def short_form(name: str, form: int) -> str:
    """A function's name; each of the NAME_FORMS leaves out more of the arguments of templates, the
    type that is returned and those of parameters."""

class NameForms:
    """Which short forms stand for one alone of the names that were added."""

    def __init__(self) -> None: ...
    def add(self, name: str) -> None: ...
    def fit(self, name: str, room: int) -> str:
        """The longest form of at most `room` characters, or the shortest."""

def printable(text: str) -> str:
    """As whocall.base.printable.printable()."""

def load_bias(path: _Path, return_addresses: Sequence[int]) -> int | None:
    """Runtime address minus link address of the program on whose stack these addresses were; None
    where they do not tell. Raises Error for what is no ELF file.
    """

def architectures() -> list[str]: ...
def architecture_facts(name: str) -> dict[str, Any]:
    """See whocall.base.architecture.Architecture."""

def signal_trampolines(machine: int) -> list[bytes]:
    """The code that signal handlers return to on a machine (EM_*), of each of its ABIs."""

def architecture_of_elf(machine: int, pointer_size: int, big_endian: bool) -> str | None:
    """Our name for what an ELF header says; None when unknown."""

def architecture_of_gdb(
    name: str, big_endian: bool, pointer_size: int, register_size: int
) -> str | None:
    """Our name for what gdb's Architecture.name() says, of pointers and general registers of so
    many bytes; None when unknown.
    """

def decode_frame_chain(
    arch: str, stack: Buffer, stack_address: int, registers: dict[str, int]
) -> list[tuple[int, int]]:
    """Follows the frame-pointer chain in raw stack bytes: [(pc, cfa), ...], outermost last."""

def cfi_rows(
    path: str, section: str = ".eh_frame"
) -> list[tuple[int, int, list[tuple[int, str, dict[str, str]]]]]:
    """Every FDE compiled: (begin, end, [(row's begin, CFA rule, {register: rule})]), in the
    notation of readelf (rsp+8, c-16, exp, u, s). Link addresses."""

def libbfd_version() -> str:
    """Loads libbfd; raises Error with the remedy when it cannot be loaded."""

def libdw_version() -> str:
    """Loads libdw; raises Error with the remedy when it cannot be loaded."""

class AuditCount:
    places: int  # instructions, or call instructions, that an unwind table covers
    cfa: int  # of these: the CFA agrees with the table
    return_address: int  # and the return address
    registers: int  # and every callee-saved register
    outcomes: dict[str, int]  # "agrees", "registers-differ", "cfa-differs", "cfa-unknown", ...
    classes: dict[str, int]  # of what does not agree: "plt", "landing-pad", ...

class AuditDifference:
    outcome: str
    class_name: str
    address: int  # link address
    function: int
    is_call: bool
    table: str
    analysis: str
    code: list[tuple[int, str]]  # the instructions around: link address, text

class Audit:
    """The analysis of one file held against its own unwind tables."""

    arch: str
    functions: int
    instructions: AuditCount
    calls: AuditCount
    differences: list[AuditDifference]  # the first of a function, for the first functions

def audit(path: _Path, difference_limit: int = 20, every: int = 1) -> Audit:
    """`every` n-th function is looked at. Raises Error when the file has no unwind tables."""

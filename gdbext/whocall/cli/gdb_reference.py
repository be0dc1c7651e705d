"""gdb's own frames for `whocall compare` on the command line: gdb is run once, and tells them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from whocall.base import loader, programs
from whocall.base.errors import Error
from whocall.base.gdb_lines import folders, line, python_call
from whocall.base.limits import GDB_TIME
from whocall.base.long_work import working
from whocall.base.optional_packages import GDB
from whocall.base.process_image import ProcessImage
from whocall.base.programs import Argument, gdb_option, words
from whocall.base.regular_file import open_regular
from whocall.base.safe_paths import accepted, refused
from whocall.cli.outside_sandbox import present
from whocall.report.comparison.verdicts import GdbFrame, GdbStack

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.outside_sandbox import LookUp

MARK = "whocall-frames:"
_TOO_LONG = (
    "it reached its limit of processor time ({} s, or that of ulimit -t);"
    ' "whocall bt" does without gdb'
)
_LOOK_UP = 0.25  # seconds from one word to people who wait to the next


def _quiet() -> list[Argument]:
    """gdb with nothing of its user's: it reads no file but those that it is asked for.

    Programs and libraries may bring scripts. An empty safe-path would be the usual one again, so it
    is a place with nothing below.
    """
    return [
        *words("-nx", "-q", "-batch"),
        *gdb_option("-iex", line("set auto-load off")),
        *gdb_option("-iex", line("set auto-load safe-path /dev/null")),
        *gdb_option("-iex", line("set debuginfod enabled off")),
        *gdb_option("-iex", line("set startup-with-shell off")),
    ]


def _core(path: str) -> list[Argument]:
    """gdb 16 and 18 misread backslashes there, and older ones take everything."""
    if "\\" in path:
        raise refused(path, "has a backslash in its name, which gdb's command line misreads")
    return [*words("-c"), programs.path(path)]


def _arguments(root: str, core: str, exe: str, lwps: Sequence[int], options: Any) -> list[Argument]:
    found = _quiet()
    sysroot = root or options.sysroot
    if sysroot:
        found += gdb_option("-iex", line("set sysroot", accepted(sysroot)))
    if options.search:
        found += gdb_option("-iex", folders("set solib-search-path", options.search))
    if exe:
        found.append(programs.path(exe))
    load = python_call("__import__('sys').path.insert", 0, str(loader.package().parent))
    dump = python_call("__import__('whocall.gdb.target.frames', fromlist=['dump']).dump", [*lwps])
    return [*found, *_core(core), *gdb_option("-ex", load), *gdb_option("-ex", dump)]


def _exe_of(image: ProcessImage) -> str:
    """The program's file, where there is one: what a core calls it may be anything."""
    main = [module.file_path for module in image.modules if module.is_executable]
    return next((path for path in main if Path(path).is_absolute() and Path(path).is_file()), "")


def _stack_from(found: dict[str, Any]) -> GdbStack:
    return GdbStack([GdbFrame(**frame) for frame in found["frames"]], found["stop"])


def stacks_from(stacks: dict[str, Any], lwps: Sequence[int]) -> dict[int, GdbStack]:
    """The stacks of the threads `lwps` out of what `whocall.gdb.target.frames.dump` printed.

    In a core of one thread that may have no LWP in gdb.
    """
    empty = GdbStack([], "gdb has no such thread")
    known = {int(lwp): _stack_from(found) for lwp, found in stacks.items()}
    if len(known) == 1 and len(lwps) == 1:
        return {lwps[0]: next(iter(known.values()))}
    return {lwp: known.get(lwp, empty) for lwp in lwps}


def _ran(
    gdb: str, arguments: Sequence[Argument], look_up: LookUp, given: int | None
) -> tuple[str, str]:
    """What gdb wrote to its output and its error stream; what `look_up` raises ends it. Raises
    OSError.

    It works in "/", where no user has left files for it. It has the descriptor `given`, and is
    confined, where the core is one that was opened by the process that we attend.
    """
    kept = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    with programs.start(
        gdb, arguments, environment=kept, folder="/", encoding="utf-8",
        confined=given is not None, descriptors=[] if given is None else [given],
        seconds=GDB_TIME,
    ) as child:  # fmt: skip
        try:
            while True:
                look_up()
                try:
                    out, err = child.communicate(timeout=_LOOK_UP)
                    if child.returncode == -signal.SIGXCPU:
                        err = _TOO_LONG.format(GDB_TIME)
                    return out, err
                except programs.StillRunning:
                    continue
        finally:
            child.kill()


def service_of_gdb(options: Any) -> Callable[[dict[str, Any], LookUp], dict[str, Any]]:
    """gdb asked for who must not start it; the command line's `options` say the rest. To be called
    in the process that asks.
    """
    here = os.getpid()

    def service(request: dict[str, Any], look_up: LookUp) -> dict[str, Any]:
        core = str(request["core"])
        with open_regular(core) as file:  # what gdb opens is one too
            holders = (here, request.get("holder"))
            if core.startswith(tuple(f"/proc/{holder}/fd/" for holder in holders)):
                # A file without a name: gdb must not look into that process.
                core = f"/proc/self/fd/{file.fileno()}"
            lwps = [int(lwp) for lwp in request["lwps"]]
            arguments = _arguments(str(request["root"]), core, str(request["exe"]), lwps, options)
            out, err = _ran(_gdb(), arguments, look_up, file.fileno())
        return {"out": out, "err": err}

    return service


def _gdb() -> str:
    return os.environ.get("GDB", "gdb")


def _said(
    image: ProcessImage, core: str, exe: str, lwps: Sequence[int], options: Any
) -> tuple[str, str]:
    def look_up() -> None:
        working(f"Asking {_gdb()} for its backtrace of {core}")

    beside = present()
    root = image.files_root or ""
    if beside is None:
        return _ran(_gdb(), _arguments(root, core, exe, lwps, options), look_up, None)
    request = {"root": root, "core": core, "exe": exe, "lwps": list(lwps)}
    answer = beside.ask("gdb", request, look_up)
    return answer["out"], answer["err"]


def gdb_stacks(
    image: ProcessImage,
    core: str,
    exe: str,
    lwps: Sequence[int],
    options: Any,
) -> dict[int, GdbStack]:
    """gdb's frames of the threads `lwps`, by LWP; raises Error when gdb cannot be asked."""
    gdb = _gdb()
    try:
        out, err = _said(image, core, exe or _exe_of(image), lwps, options)
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install {GDB.package}") from error
    for said in out.splitlines():
        if said.startswith(MARK):
            return stacks_from(json.loads(said[len(MARK) :]), lwps)
    last = (err.strip().splitlines() or ["it said nothing"])[-1]
    raise Error(f"{gdb} gave no frames of {core}: {last}")

"""The sandbox: before a command reads the first file of a stranger it gives up what it has no use
for, so that whatever a file made it do would come to nothing. `docs/sandbox.md` tells more.

One table says what each command keeps beside reading. One that is not in it keeps nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from whocall.cli.inputs import is_plain_core
from whocall.cli.parsing import UNCONFINED
from whocall.core.errors import NativeMissingError
from whocall.core.held_signals import END, held
from whocall.core.records import dataclass
from whocall.core.sandbox import confine, is_confined, let_children_keep, postpone
from whocall.frontend.caches import cache_folders, made_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from whocall.cli.arguments import Values
    from whocall.cli.outside_sandbox import Json, LookUp, Service


@dataclass(frozen=True)
class Keeps:
    """What a command has use for."""

    outputs: tuple[str | None, ...] = ()  # files that it writes, where they are named
    folders: tuple[str | None, ...] = ()  # where it writes whatever it likes
    new_folders: tuple[str | None, ...] = ()  # the same, where it makes them itself
    caches: tuple[str, ...] = ()  # of these: "triage", "symbols", "debuginfod"
    inputs: tuple[str | None, ...] | None = ()  # what is packed among them is unpacked; None: all
    gdb: bool = False
    processes: bool = False
    workers: bool = False
    later: bool = False  # something is done first, and confine_now() called then


def _nothing(arguments: Values) -> Keeps:
    return Keeps()


def _core(arguments: Values) -> Keeps:
    return Keeps(inputs=(arguments.core, arguments.exe))


def _file(arguments: Values) -> Keeps:
    return Keeps(inputs=(arguments.file, arguments.exe))


def _bt(arguments: Values) -> Keeps:
    if arguments.list or arguments.last or arguments.crash:
        return Keeps(inputs=None, later=True)  # journalctl is asked first
    return Keeps(
        inputs=(arguments.core, arguments.exe, *(arguments.more or ())),
        processes=arguments.pid is not None,
    )


def _compare(arguments: Values) -> Keeps:
    gdb = arguments.gdb_frames is None and not arguments.shadow
    return Keeps(inputs=(arguments.core, arguments.exe), gdb=gdb)


def _export(arguments: Values) -> Keeps:
    return Keeps(inputs=(arguments.file, arguments.exe), outputs=(arguments.output,))


def _repair_plan(arguments: Values) -> Keeps:
    named = (arguments.core, arguments.exe)
    return Keeps(inputs=named, folders=(arguments.folder,), caches=("symbols",))


def _report(arguments: Values) -> Keeps:
    return Keeps(
        inputs=(*arguments.core, arguments.exe),
        outputs=(arguments.output,),
        gdb=not arguments.no_gdb,
    )


def _triage(arguments: Values) -> Keeps:
    store = os.path.dirname(os.path.abspath(arguments.store)) if arguments.store else None
    return Keeps(
        inputs=None,
        outputs=(arguments.output,),
        folders=(store,),
        new_folders=(arguments.reports,),
        caches=("triage",),
        workers=True,
    )


def _trace(arguments: Values) -> Keeps:
    return Keeps(
        inputs=(arguments.file, arguments.exe),
        outputs=(arguments.output,),
        processes=arguments.pid is not None,
    )


_TABLE: dict[str, Callable[[Values], Keeps]] = {
    "audit": _nothing,
    "bt": _bt,
    "caller": _core,
    "compare": _compare,
    "export": _export,
    "functions": _file,
    "modules": _core,
    "repair-plan": _repair_plan,
    "report": _report,
    "resolve": _nothing,
    "serve": lambda arguments: Keeps(inputs=None, gdb=arguments.gdb, later=True),
    "signatures": lambda arguments: Keeps(outputs=(arguments.output,)),
    "symbol": lambda arguments: Keeps(inputs=(arguments.file,)),
    "trace": _trace,
    "triage": _triage,
    "why": _core,
    "unpack": lambda arguments: Keeps(inputs=None, outputs=(arguments.output,)),
}

_at_end: list[Callable[[], None]] = []


def begin(command: str, arguments: Values) -> None:
    """To be called when nothing but the command line was read."""
    if command in UNCONFINED or arguments.no_sandbox:
        return
    keeps = _TABLE.get(command, _nothing)(arguments)
    if keeps.later:
        postpone(lambda: _enter(keeps, arguments))
    else:
        _enter(keeps, arguments)


def _enter(keeps: Keeps, arguments: Values) -> None:
    from whocall.frontend.compiled import compile_package

    try:
        import whocall.core.engine  # noqa: F401
    except NativeMissingError:
        return  # the command will say so, if it has use for it
    compile_package()
    network = bool(getattr(arguments, "debuginfod", False))
    caches = _caches(keeps, network)
    writable = [*_folders(keeps), *caches]
    outputs = [output for output in keeps.outputs if output]
    if keeps.workers:
        from whocall.triage.workers import sweep

        sweep()  # the common folder of temporary ones, which is out of reach then
    with held(END):  # what is made here has its remover then
        own = _own_folder() if _unpacks(keeps.inputs, arguments) else ""
        if outputs or keeps.gdb or own:
            _have_attendant(outputs, own, arguments if keeps.gdb else None)
    if keeps.workers:
        let_children_keep([*caches, *([own] if own else [])], network=network)
    confine(
        [*writable, own] if own else writable,
        network=network or bool(getattr(arguments, "scheduler", None)),
        processes=keeps.processes,
        children=keeps.workers,
    )


def remark(error: BaseException) -> str:
    """What to add to a complaint where it was the sandbox that refused something; else nothing."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if not is_confined() or not isinstance(cause, PermissionError) or cause.filename is None:
        return ""
    path = os.fsdecode(cause.filename)
    place = path if os.path.lexists(path) else os.path.dirname(path) or "."
    if not os.access(place, os.W_OK):  # which does not ask the sandbox
        return ""
    return "; the sandbox lets nothing be written there: --no-sandbox does without it"


def end() -> None:
    """The command is over."""
    while _at_end:
        _at_end.pop()()


def _folders(keeps: Keeps) -> list[str]:
    """Where the command writes what it likes; the kernel takes none that are missing."""
    found = [folder for folder in keeps.folders if folder]
    found += [made_folder(folder) for folder in keeps.new_folders if folder]
    return [*found, "/dev/shm"] if keeps.workers else found  # for locks between processes


def _caches(keeps: Keeps, network: bool) -> list[str]:
    return cache_folders(["facts", *keeps.caches, *(["debuginfod"] if network else [])])


def _unpacks(inputs: Sequence[str | None] | None, arguments: Values) -> bool:
    """Whether temporary files may be needed: ELF files are read where they lie."""
    if inputs is None or bool(getattr(arguments, "sysroot", None)):
        return True
    return any(
        path == "-" or (os.path.lexists(path) and is_plain_core(path) is None)
        for path in inputs
        if path
    )


def _own_folder() -> str:
    import tempfile

    from whocall.dumps import sparse

    try:
        own = tempfile.mkdtemp(prefix="whocall-", dir=sparse.folder())
    except OSError:
        return ""  # who has use for it says so
    sparse.use(own)
    tempfile.tempdir = own
    return own


def _have_attendant(outputs: Sequence[str], own: str, options: Values | None) -> None:
    """`options`: of gdb, where it is asked."""
    from whocall.cli.outside_sandbox import Attendant, set_present

    services: dict[str, Service] = {}
    if outputs:
        from whocall.core import output_file

        for output in outputs:
            output_file.prepare(output)
        services["put"] = _put
    if options is not None:
        from whocall.cli.gdb_reference import service_of_gdb

        services["gdb"] = service_of_gdb(options)

    def at_end() -> None:
        if outputs:
            output_file.drop_prepared()
        if own:
            _remove(own)

    attendant = Attendant(services, at_end)
    set_present(attendant)
    _at_end.append(attendant.close)
    if outputs:

        def asked_to_put(path: str, mode: int) -> None:
            attendant.ask("put", {"path": path, "mode": mode})

        output_file.put_by(asked_to_put)


def _put(request: Json, look_up: LookUp) -> Json:
    from whocall.core.output_file import put_prepared

    put_prepared(request["path"], int(request["mode"]) & 0o666)
    return {}


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # temporary files without a name leave it empty
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)

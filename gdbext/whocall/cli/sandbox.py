"""The sandbox: before a command reads the first file of a stranger it gives up what it has no use
for, so that whatever a file made it do would come to nothing. `docs/sandbox.md` tells more.

The table of commands says what each keeps beside reading.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import whocall.commands as table
from whocall.base.blocked_signals import END, held
from whocall.base.errors import NativeMissingError
from whocall.base.records import dataclass
from whocall.base.sandbox import confine, is_confined, let_children_keep, postpone
from whocall.cli.inputs import is_plain_core
from whocall.shared_front_end.caches import cache_folders, made_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from whocall.cli.arguments import Values
    from whocall.cli.outside_sandbox import Json, LookUp, Service


@dataclass(frozen=True)
class Keeps:
    """What a command has use for."""

    outputs: Sequence[str] = ()  # files that it writes
    folders: Sequence[str] = ()  # where it writes whatever it likes
    new_folders: Sequence[str] = ()  # the same, where it makes them itself
    caches: Sequence[str] = ()  # of these: "triage", "symbols", "debuginfod"
    inputs: Sequence[str] | None = ()  # what is packed among them is unpacked; None: any may be
    gdb: bool = False
    processes: bool = False
    workers: bool = False
    later: bool = False  # something is done first, and confine_now() called then


def _is_given(name: str, arguments: Values) -> bool:
    value = getattr(arguments, name.replace("-", "_"))
    return not (value is None or value is False or value == "")


def _holds(condition: Any, arguments: Values) -> bool:
    """True and False, or with any of some options, or without all of some."""
    if condition in (True, False):
        return bool(condition)
    ((word, names),) = condition
    return any(_is_given(name, arguments) for name in names) is (word == "with")


def _named(names: Sequence[str], arguments: Values) -> list[str]:
    """The values of these options and arguments that have any."""
    found: list[str] = []
    for name in names:
        value = getattr(arguments, name.replace("-", "_"))
        found += value if isinstance(value, list) else [value] if value else []
    return found


def kept_by(keeps: Mapping[str, Any], arguments: Values) -> Keeps:
    """What a command keeps: `keeps` is what the table of commands says of it."""
    later = _holds(keeps.get("later", False), arguments)
    inputs = "all" if later else keeps.get("inputs", ())  # which they are is found out first
    of_files = (os.path.abspath(path) for path in _named(keeps.get("folders_of", ()), arguments))
    return Keeps(
        inputs=None if inputs == "all" else _named(inputs, arguments),
        outputs=_named(keeps.get("outputs", ()), arguments),
        folders=[*_named(keeps.get("folders", ()), arguments), *map(os.path.dirname, of_files)],
        new_folders=_named(keeps.get("new_folders", ()), arguments),
        caches=keeps.get("caches", ()),
        gdb=_holds(keeps.get("gdb", False), arguments),
        processes=_holds(keeps.get("processes", False), arguments),
        workers=keeps.get("workers", False),
        later=later,
    )


_at_end: list[Callable[[], None]] = []


def begin(command: str, arguments: Values) -> None:
    """To be called when nothing but the command line was read."""
    row = table.shell(command)
    if row is None or row.keeps is None or arguments.no_sandbox:
        return
    keeps = kept_by(dict(row.keeps), arguments)
    if keeps.later:
        postpone(lambda: _enter(keeps, arguments))
    else:
        _enter(keeps, arguments)


def _enter(keeps: Keeps, arguments: Values) -> None:
    from whocall.shared_front_end.compiled import compile_package

    try:
        import whocall.base.native_module  # noqa: F401
    except NativeMissingError:
        return  # the command will say so, if it has use for it
    compile_package()
    network = bool(getattr(arguments, "debuginfod", False))
    caches = _caches(keeps, network)
    writable = [*_folders(keeps), *caches]
    outputs = keeps.outputs
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
    found = [*keeps.folders, *map(made_folder, keeps.new_folders)]
    return [*found, "/dev/shm"] if keeps.workers else found  # for locks between processes


def _caches(keeps: Keeps, network: bool) -> list[str]:
    return cache_folders(["facts", *keeps.caches, *(["debuginfod"] if network else [])])


def _unpacks(inputs: Sequence[str] | None, arguments: Values) -> bool:
    """Whether temporary files may be needed: ELF files are read where they lie."""
    if inputs is None or bool(getattr(arguments, "sysroot", None)):
        return True
    return any(
        path == "-" or (os.path.lexists(path) and is_plain_core(path) is None) for path in inputs
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
        from whocall.base import output_file

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
    from whocall.base.output_file import put_prepared

    put_prepared(request["path"], int(request["mode"]) & 0o666)
    return {}


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # temporary files without a name leave it empty
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)

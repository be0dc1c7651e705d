"""gdb's selected inferior as a process image, kept until something changes in gdb."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gdb

from whocall.base import cut_files, loader
from whocall.base.errors import Error
from whocall.base.records import dataclass
from whocall.gdb.host import console, parameters, settings
from whocall.gdb.target.connections import connection_of
from whocall.gdb.target.executable import executable
from whocall.gdb.target.snapshot_validator import SnapshotValidator
from whocall.gdb.target.threads import lwp_of
from whocall.gdb_helper.current import Current, indices, numbers_in_order, stamps_of

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

NO_PROGRAM = (
    'The program has no registers now.  Use "core-file CORE" to read a core, or "run" to start it.'
)


@dataclass(frozen=True)
class _Kept:
    key: Hashable
    image: ProcessImage
    validator: SnapshotValidator | None = None  # a core does not change


_kept: dict[int, _Kept] = {}  # by inferior number
_numbers: dict[int, tuple[ProcessImage, dict[int, int]]] = {}  # of cores' threads, likewise
_cores: dict[int, str | None] = {}  # paths by the number of gdb's connection
_listening = False
_changes = 0

# What gdb has told since it was heeded last.
# Situation: Ctrl-C comes while gdb calls the handler of an event. Example: `whocall repair`, during
# which gdb tells of new object files: gdb prints the handler's KeyboardInterrupt and goes on with
# the command. Remedy: the handler is a builtin, which has no line that could be interrupted.
_told: deque[Any] = deque(maxlen=1)


def forget() -> None:
    """Drops everything kept: called whenever memory, registers, files or threads may change."""
    global _changes
    _changes += 1
    _kept.clear()
    _numbers.clear()
    _told.clear()


def _heed() -> None:
    if _told:
        forget()


def _keep(inferior: gdb.Inferior, kept: _Kept) -> None:
    _heed()
    _kept[inferior.num] = kept


def changes() -> int:
    """Counts up with each of these: what the helper keeps is of one count."""
    _heed()
    return _changes


def listen() -> None:
    """Asks gdb for the events after which an image may be stale."""
    global _listening
    if _listening:
        return
    names = (
        "cont",
        "exited",
        "inferior_call",
        "memory_changed",
        "register_changed",
        "new_objfile",
        "free_objfile",
        "clear_objfiles",
        "new_thread",
        "inferior_deleted",
        "connection_removed",
        "stop",
    )
    for name in names:
        registry = getattr(gdb.events, name, None)  # older gdbs lack some
        if registry is not None:
            registry.connect(_told.append)
    for name in ("symbol-files", "signature-files"):  # setting them reads their files anew
        parameters.on_change(name, _told.append)
    _listening = True


def core_of(inferior: gdb.Inferior) -> str | None:
    """The path of the core file that gdb reads; None when the inferior is none."""
    connection = connection_of(inferior)  # each core is a new one
    if connection is not None and connection.kind != "core":
        return None
    corefile = getattr(inferior, "corefile", None)  # from gdb 18 on
    if corefile is not None:
        return str(corefile.filename)
    if connection is None:
        return _core_shown_by_gdb()
    if connection.number not in _cores:
        _cores[connection.number] = _core_shown_by_gdb()
    return _cores[connection.number]


def _core_shown_by_gdb() -> str | None:
    """As gdb's table of program spaces tells it, or `info files`, where a thousand threads take
    5 ms. The table's columns count bytes: behind a path that is not ASCII its cells stand further
    left than their heads, so a piece of a path may be cut out there.
    """
    head, *rows = console.said("maintenance info program-spaces").split("\n")
    column = head.find("Core File")  # gdb 12 to 17
    ours = next((row for row in rows if row.startswith("*")), "")
    cell = ours[column:].strip()
    if column >= 0 and ours[column - 1 : column] == " " and _is_path_of_file(cell):
        return cell
    said = console.said("info files")
    match = re.search(r"core dump file:\s*[`'\"‘]?(.+?)['\"’]?, file type ", said, re.DOTALL)
    return match.group(1) if match else None


def _is_path_of_file(text: str) -> bool:
    return text.startswith("/") and Path(text).is_file()


def _settings() -> Hashable:
    return settings.search(), settings.debuginfod_servers(), cut_files.told()


def _core_image(inferior: gdb.Inferior, core: str) -> ProcessImage:
    from whocall.base.process_image import open_core

    exe = executable(inferior)
    key = ("core", core, exe, stamps_of(core, exe), _settings())
    known = _kept.get(inferior.num)
    if known is not None and known.key == key:
        return known.image
    image = open_core(core, exe, search=settings.search())
    _keep(inferior, _Kept(key, image))
    return image


def _live_image(
    inferior: gdb.Inferior, thread: gdb.InferiorThread, every_thread: bool
) -> ProcessImage:
    from whocall.gdb.target.live import open_inferior, states

    exe = executable(inferior)
    key = (exe, stamps_of(exe), _settings())
    known = _kept.get(inferior.num)
    wanted = inferior.threads() if every_thread else (thread,)
    if known is not None and known.validator is not None and known.key == key:
        if known.validator.holds(states(wanted)):
            return known.image
        if thread.num not in known.validator.threads:
            wanted = inferior.threads()  # after a second thread the others will be asked for
    opened = open_inferior(inferior, wanted)
    _keep(inferior, _Kept(key, opened.image, opened.validator))
    return opened.image


def _indices(image: ProcessImage, threads: Sequence[gdb.InferiorThread]) -> dict[int, int]:
    return indices(image, [(thread.num, lwp_of(thread)) for thread in threads])


def _every_number(
    image: ProcessImage, inferior: gdb.Inferior, thread: gdb.InferiorThread
) -> dict[int, int]:
    """The same for all threads, `thread` among them. gdb takes 10 ms to list a thousand; a core's
    do not change.
    """
    if image.core_path is None:
        return _indices(image, inferior.threads())
    known = _numbers.get(inferior.num)
    if known is not None and known[0] is image:
        return known[1]
    numbers = numbers_in_order(image, thread.num, thread.ptid[1])
    numbers = numbers or _indices(image, inferior.threads())
    _numbers[inferior.num] = image, numbers
    return numbers


def inferior_prefix() -> str:
    """What gdb writes before the number of a thread: "2." when there are several inferiors."""
    number = gdb.selected_inferior().num
    return "" if number == 1 and len(gdb.inferiors()) == 1 else f"{number}."


def readable_selection() -> tuple[gdb.Inferior, gdb.InferiorThread]:
    """The selected inferior and its selected thread; raises Error when it cannot be read now."""
    thread = gdb.selected_thread()
    if thread is None or not thread.is_valid():
        raise Error(NO_PROGRAM)
    if thread.is_running():
        raise Error('The selected thread is running.  Use "interrupt" to stop it.')
    return gdb.selected_inferior(), thread


def file_alone() -> str | None:
    """The program's file where there is nothing else; None where there is a process, or a core.
    Raises Error where there is neither.
    """
    if gdb.selected_thread() is None and (path := executable(gdb.selected_inferior())):
        return path
    readable_selection()
    return None


def current(every_thread: bool = False) -> Current:
    """The image of the selected inferior with at least its selected thread.

    Raises Error when there is no program, or gdb has no thread selected; NativeMissingError first.
    """
    loader.load()  # where that fails, asking the user for a program would be a detour
    inferior, thread = readable_selection()
    listen()
    _heed()
    core = core_of(inferior)
    if core is not None:
        image = _core_image(inferior, core)
    else:
        image = _live_image(inferior, thread, every_thread)
    numbers = {} if every_thread else _indices(image, (thread,))
    numbers = numbers or _every_number(image, inferior, thread)
    selected = next((at for at, number in numbers.items() if number == thread.num), None)
    if selected is None:
        raise Error(f"whocall does not find gdb's thread {thread.num} in the process.")
    return Current(image, selected, numbers)

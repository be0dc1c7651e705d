"""Who answers a command: the helper, of cores and files; this process, of what gdb alone can read,
or where the user wants no helper.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, BinaryIO

import gdb

from whocall.base import loader
from whocall.base.errors import Error
from whocall.gdb.host import downloads, helper, output, settings
from whocall.gdb.target import inferior as inferiors
from whocall.gdb.target.executable import executable
from whocall.gdb.target.threads import lwp_of
from whocall.gdb_helper import channel, table
from whocall.gdb_helper.current import ThreadsWantedError, descriptor_of

if TYPE_CHECKING:
    from whocall.report.form.jsonform import Json

Write = Callable[[str], None]
"""Takes text that is to go elsewhere than to gdb's output."""


class Answer:
    """What an answer brings beside what is shown."""

    def __init__(self, write: Write | None = None) -> None:
        self.result: Any = None
        self.contents: list[bytes | memoryview] = []  # of files to be
        self._write = write

    # As answers.output.Output has it.

    def write(self, lines: Iterable[str]) -> None:
        output.write(lines)

    def write_pieces(self, pieces: Iterable[str]) -> None:
        if self._write is None:
            output.write_pieces(pieces)
            return
        for piece in pieces:
            self._write(piece)

    def write_json(self, pieces: Iterable[str]) -> None:
        output.write_json(pieces)

    def warn(self, sentences: Iterable[str]) -> None:
        output.warn(sentences)

    def hand_over(self, contents: bytes | memoryview) -> None:
        self.contents.append(contents)

    def take(self, kind: bytes, contents: bytes) -> None:
        """A message of the helper's."""
        if kind == channel.CONTENTS:
            self.contents.append(contents)
            if sum(map(len, self.contents)) > channel.LARGEST:
                raise Error(f"the files are larger than {channel.LARGEST >> 20} MiB together")
            return
        if kind == channel.FETCHED:
            _show_fetched(contents)
            return
        text = contents.decode("utf-8", "surrogateescape")
        if kind == channel.TEXT:
            self.write_pieces([text])
        elif kind == channel.LINES_OF_JSON:
            self.write_json([text])
        elif kind == channel.WARNING:
            self.warn([text])
        else:
            downloads.show_work(text)


def _show_fetched(contents: bytes) -> None:
    try:
        what, done, size = json.loads(contents)
        downloads.show(str(what), int(done), int(size))
    except (ValueError, TypeError, RecursionError) as error:
        raise channel.ChannelEndError from error


def _search() -> Json:
    """As answers.cores.search_from takes it."""
    found = settings.search()
    return {
        "sysroot": found.sysroot,
        "directories": list(found.directories),
        "debug_directories": list(found.debug_directories),
        "symbol_files": list(found.symbol_files),
        "signature_files": list(found.signature_files),
        "debuginfod": found.debuginfod,
    }


def has_helper_for_process() -> bool:
    """Whether the helper answers of the selected process. Raises NativeMissingError, else Error
    where no thread is selected that can be read.
    """
    require_process()
    return _core_for_helper(gdb.selected_inferior()) is not None


def _core_for_helper(inferior: gdb.Inferior) -> str | None:
    return inferiors.core_of(inferior) if settings.has_helper() else None


def require_process() -> None:
    """Raises NativeMissingError, else Error where no thread is selected that can be read."""
    loader.load()
    inferiors.readable_selection()


def file_alone() -> str | None:
    """The program's file where there is nothing else; None where there is a process. Raises
    NativeMissingError, else Error where there is neither.
    """
    loader.load()
    return inferiors.file_alone()


def answer(
    name: str, wanted: Json, *, every_thread: bool = False, write: Write | None = None
) -> Answer:
    """Of the selected process; shows what is to be shown. Raises NativeMissingError, Error."""
    loader.load()
    inferior, thread = inferiors.readable_selection()
    found = Answer(write)
    wanted = {**wanted, "every_thread": every_thread}
    core = _core_for_helper(inferior)
    if core is None:
        now = inferiors.current(every_thread)
        found.result = table.of_process(name)(now, found, {**wanted, "search": settings.search()})
        return found
    inferiors.listen()
    table.of_process(name)  # imported here it is there in each helper
    question: Json = {
        "name": name,
        "wanted": wanted,
        "search": _search(),
        "core": {
            "inferior": inferior.num,
            "core": core,
            "exe": executable(inferior),
            "changes": inferiors.changes(),
        },
        "thread": {"number": thread.num, "lwp": lwp_of(thread), "ptid_lwp": thread.ptid[1]},
        "threads": None,
        "every_thread": every_thread,
    }
    descriptor = descriptor_of(core, os.getpid())
    descriptors = [] if descriptor is None else [descriptor]
    try:
        found.result = helper.ask(question, found.take, descriptors)
    except ThreadsWantedError:
        question["threads"] = [(each.num, lwp_of(each)) for each in inferior.threads()]
        found.result = helper.ask(question, found.take, descriptors)
    return found


def unpacked(path: str, exe: str, core: BinaryIO) -> Json:
    """What is in the file, of which a plain core is written to the empty file `core`; schema
    whocall.unpacked/1. Raises Error, NativeMissingError first.
    """
    loader.load()
    wanted = {"file": path, "exe": exe, "descriptor": core.fileno(), "folder": ""}
    found = Answer()
    result: Json
    if not settings.has_helper():
        result = table.of_files("unpacked.unpacked")(settings.search(), found, wanted)
        return result
    import tempfile

    from whocall.dumps import sparse

    with tempfile.TemporaryDirectory(prefix="whocall-", dir=sparse.place()) as folder:
        wanted["folder"] = folder
        question = {"name": "unpacked.unpacked", "wanted": wanted, "search": _search()}
        result = helper.ask_once(question, found.take, [core.fileno()], [folder])
    return result


def answer_of_files(name: str, wanted: Json, *, write: Write | None = None) -> Answer:
    """Of files, whatever gdb works on. Raises Error, NativeMissingError first."""
    loader.load()
    found = Answer(write)
    if not settings.has_helper():
        found.result = table.of_files(name)(settings.search(), found, wanted)
        return found
    table.of_files(name)
    question = {"name": name, "wanted": wanted, "search": _search()}
    found.result = helper.ask(question, found.take, [])
    return found

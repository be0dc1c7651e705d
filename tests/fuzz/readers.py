"""The fuzzers of the package's readers: each takes any bytes, and may raise whocall's Error alone.

A target is a function of the bytes. What a reader takes by path lies in a file of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from whocall.base.elf_head import build_id_of, read_elf_head
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.container_images.container import layers_of
from whocall.container_images.merged_tree import MergedTree
from whocall.dumps import abrt, systemd_coredumps
from whocall.dumps.arrival import receive
from whocall.dumps.kinds import kind_of, kind_of_path
from whocall.dumps.tar_members import TarFaultError, TarReader
from whocall.resolve.facts.maps import Maps, parse_mapping
from whocall.resolve.log import open_log
from whocall.resolve.record import read_records
from whocall.resolve.record_text import record_lines
from whocall.triage.store import Store

Target = Callable[[bytes], None]
TARGETS: dict[str, Target] = {}
# The readers that a target is for: those of which its coverage is told.
SUBJECTS: dict[str, tuple[str, ...]] = {}
_MOST = 1 << 20  # bytes that are taken out of a stream


def _target(*subjects: str) -> Callable[[Target], Target]:
    def add(function: Target) -> Target:
        name = function.__name__
        TARGETS[name] = function
        SUBJECTS[name] = subjects
        return function

    return add


_FOLDER = Path(tempfile.mkdtemp(prefix="whocall-fuzz-"))


atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def _file(data: bytes, name: str = "input") -> str:
    path = _FOLDER / name
    path.write_bytes(data)
    return str(path)


def _drain(pieces: Iterator[bytes], most: int = _MOST) -> None:
    taken = 0
    for piece in pieces:
        taken += len(piece)
        if taken > most:
            return


@_target("base/elf_head.py")
def elf_head(data: bytes) -> None:
    """Segments, notes and build ids of files that modules are."""
    path = _file(data)
    read_elf_head(path)
    build_id_of(path)


@_target("dumps/tar_members.py")
def tar(data: bytes) -> None:
    """Members, long names, sparse maps."""
    stream = io.BytesIO(data)

    def skip(size: int) -> bool:
        stream.seek(size, io.SEEK_CUR)
        return stream.tell() <= len(data)

    reader = TarReader(stream.read, skip)
    with contextlib.suppress(TarFaultError):
        for number, member in enumerate(reader):
            if member.kind == "file" and number % 2 == 0:
                _drain(reader.contents())


@_target(
    *("container_images/container.py", "container_images/layers.py"),
    *("container_images/merged_tree.py", "dumps/streams.py"),
)
def image(data: bytes) -> None:
    """An image in a file, its lists and its layers; what is found in it lies in it."""
    tree = MergedTree(layers_of(_file(data), "x86_64"))
    for path in ("/usr/bin/program", "/lib/../lib/x.so", "/a/b", "/"):
        tree.find(path)
        list(tree.folder(path))


class _Journalctl:
    """Stands for the program: says the input."""

    said = b""
    returncode = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def communicate(self) -> tuple[bytes, bytes]:
        return self.said, b""


@_target("dumps/systemd_coredumps.py")
def journal(data: bytes) -> None:
    """Entries of systemd-coredump, as journalctl writes them."""
    genuine = systemd_coredumps.start
    _Journalctl.said = data
    systemd_coredumps.start = _Journalctl  # type: ignore[assignment]
    try:
        found = systemd_coredumps.crashes(journal="/nowhere")
        for crash in found:
            str(crash.time), crash.unit, crash.matches("a")
        systemd_coredumps.newest_with_core(found, "")
    finally:
        systemd_coredumps.start = genuine


@_target("dumps/abrt.py")
def abrt_problem(data: bytes) -> None:
    """A directory of fields, divided at NULs: names and what they hold."""
    place = _FOLDER / "problem"
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    words = data.split(b"\0")[:40]
    for name, contents in zip(words[::2], words[1::2]):
        last = os.fsdecode(name).rpartition("/")[2][:60]
        if last not in ("", ".", ".."):
            (place / last).write_bytes(contents)
    abrt.is_problem(str(place))
    abrt.core_of_problem(str(place))


@_target("dumps/arrival.py", "dumps/kinds.py", "dumps/sparse.py", "dumps/minidump_core.py")
def arrival(data: bytes) -> None:
    """A crash as it comes: packed, in a report, a minidump, or none."""
    path = _file(data)
    kind_of_path(path)
    if kind_of(data) != "core":  # that is the native module's
        with (_FOLDER / "made").open("w+b") as made:
            receive(path, str(_FOLDER), into=made)


@_target("resolve/log.py", "resolve/lines.py", "resolve/resolver.py", "resolve/text.py",
         "resolve/formats/android.py", "resolve/formats/chromium.py", "resolve/formats/gdb.py",
         "resolve/formats/glibc.py", "resolve/formats/go.py", "resolve/formats/java.py",
         "resolve/formats/kernel.py", "resolve/formats/libwhocall.py", "resolve/formats/perf.py",
         "resolve/formats/raw.py", "resolve/formats/rust.py", "resolve/formats/sanitizer.py",
         "resolve/formats/systemd.py", "resolve/formats/valgrind.py")  # fmt: skip
def log(data: bytes) -> None:
    """A log in all forms that are known; it comes out whole, and as JSON."""
    search = Search(sysroot=str(_FOLDER), debug_directories=())
    path = _file(data, "log")
    with open_log(path, search) as opened:
        for piece in opened.json():
            piece.encode("utf-8", "surrogateescape")
        opened.warnings()


@_target("resolve/record.py", "resolve/record_text.py")
def record(data: bytes) -> None:
    """Records and rings of libwhocall."""
    found, _ = read_records(data, "ring")
    for each in found:
        list(record_lines(each))


@_target("resolve/facts/maps.py")
def maps(data: bytes) -> None:
    """Copies of /proc/PID/maps, whole and in pieces."""
    told = Maps()
    for line in data.decode("utf-8", "replace").splitlines():
        mapping = parse_mapping(line)
        if mapping is not None:
            told.add(mapping)
            told.insert(mapping)


@_target("triage/store.py")
def triage_store(data: bytes) -> None:
    """A database that somebody else made: what is no store is refused in words."""
    path = _file(data, "results")
    opened = Store(path)
    try:
        with contextlib.suppress(sqlite3.Error, UnicodeError):  # of tables that are not ours
            opened.done("a", 1, 1, "x")
            opened.total()
            opened.failed()
    finally:
        opened.close()


def run(name: str, data: bytes) -> None:
    """One input; anything but Error comes out."""
    with contextlib.suppress(Error):
        TARGETS[name](data)

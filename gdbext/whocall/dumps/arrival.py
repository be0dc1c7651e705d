"""Makes of an input of any kind a core that can be opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from whocall.core.errors import Error
from whocall.core.image import ProcessImage
from whocall.core.regular_file import open_stream, standard_input
from whocall.core.search import Search
from whocall.dumps import kinds, sparse
from whocall.dumps.streams import PACKINGS, TAKEN, DamagedStreamError, Read, share_of, unpacked

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.dumps.minidump_core import Converter

_NESTED = 4  # a file packed in a file packed in a file is somebody's joke


class Arrived:
    """A core to open at `path`, or a dump that tells the same, and what came with it.

    `name` is what the user calls it. `fields` are what the reporter of the crash noted, as it calls
    them. `remarks` are sentences on what is missing. The file is gone when this object is.
    """

    def __init__(self, path: str, name: str) -> None:
        self.path = path
        self.name = name
        self.fields: dict[str, str] = {}
        self.remarks: list[str] = []
        self.damage = ""  # of the stream that it was packed in
        self.file: BinaryIO | None = None
        self.converter: Converter | None = None  # where it is a minidump or a microdump

    def keep(self, file: BinaryIO) -> None:
        """From now on the core is this temporary file."""
        self.file = file
        self.path = sparse.path_of(file)

    def as_core(self) -> str:
        """The path of the core, which is written now where it is a dump. Raises Error."""
        if self.converter is not None and self.file is None:
            core = sparse.temporary()
            self.converter.write(core)
            self.keep(core)
        return self.path

    def close(self) -> None:
        """The core cannot be opened any more; who has it open keeps it."""
        if self.file is not None:
            self.file.close()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while True:
        piece = file.read(TAKEN)
        if not piece:
            return
        yield piece


def _with_head(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to tell the kind, and all pieces."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= kinds.HEAD:
            break

    def all_of_them() -> Iterator[bytes]:
        if head:
            yield head
        yield from pieces

    return head, all_of_them()


def _reader_of(pieces: Iterator[bytes]) -> Read:
    return lambda size: next(pieces, b"")


def _unwrapped(arrived: Arrived, pieces: Iterator[bytes]) -> tuple[str, Iterator[bytes]]:
    """Takes off what is packed; the kind of what is inside, and its pieces."""
    for _ in range(_NESTED):
        try:
            head, pieces = _with_head(pieces)
        except DamagedStreamError as error:
            raise Error(
                f"{arrived.name} cannot be unpacked: {error}; copy it anew, or unpack it by hand",
                path=arrived.name,
            ) from error
        kind = kinds.kind_of(head)
        if kind in PACKINGS:
            pieces = unpacked(kind, _reader_of(pieces))
        elif kind == "apport":
            from whocall.dumps.apport import core_of_report

            pieces = core_of_report(pieces, arrived.fields, arrived.name)
        elif kind in ("core", "minidump", "microdump"):
            return kind, pieces
        else:
            raise Error(
                f"{arrived.name} holds no core: what is in it is "
                f"{kinds.described(head)}; name a core, a minidump or a crash report",
                path=arrived.name,
            )
    raise Error(f"{arrived.name} is packed more than {_NESTED} times: unpack it by hand first")


def _stored(
    arrived: Arrived, pieces: Iterator[bytes], source: BinaryIO, into: BinaryIO | None
) -> BinaryIO:
    """Everything in a temporary file or `into`; what a damaged stream still held is good."""

    def good() -> Iterator[bytes]:
        try:
            yield from pieces
        except DamagedStreamError as error:
            arrived.damage = (
                f"{arrived.name} cannot be unpacked to its end: {error}; what came before it is"
            )
            arrived.remarks.append(f"{arrived.damage} used.")

    file = sparse.temporary() if into is None else into
    if sparse.write_sparse(good(), file, arrived.name, lambda: share_of(source)) == 0:
        raise Error(f"{arrived.name} is empty; copy it anew", path=arrived.name)
    return file


def _read_dump(arrived: Arrived, dump: BinaryIO, sysroot: str) -> None:
    from whocall.dumps.minidump_core import Converter

    arrived.converter = Converter(dump, arrived.name, sysroot)
    arrived.fields = {**arrived.converter.fields, **arrived.fields}


def _opened(path: str) -> BinaryIO:
    if path == "-":
        return standard_input()
    try:
        return open_stream(path)
    except OSError as error:
        raise Error(f"{path} cannot be opened: {error.strerror}", path=path) from error


def receive(path: str, sysroot: str = "", into: BinaryIO | None = None) -> Arrived:
    """The core in the file, the directory of ABRT or the standard input (`-`) at `path`.

    A core is written to the empty file `into`, where one is given, else only where it has to be;
    of a dump whose memory lies in it nothing is written.

    Raises Error.
    """
    kind = kinds.kind_of_path(path)
    arrived = Arrived(path, "standard input" if path == "-" else path)
    if kind == "abrt":
        from whocall.dumps.abrt import core_of_problem

        path, arrived.fields = core_of_problem(path)
        arrived.path = path
        kind = kinds.kind_of_path(path)
    elif kind != "pipe":
        from whocall.dumps.coredumps import fields_of_file

        arrived.fields = fields_of_file(path)
    if kind == "core" and into is None:
        return arrived
    with _opened(path) as file:
        try:
            if kind in ("minidump", "microdump"):
                _read_dump(arrived, file, sysroot)
                return arrived
            inner, pieces = _unwrapped(arrived, _pieces(file))
            stored = _stored(arrived, pieces, file, into if inner == "core" else None)
        except OSError as error:
            raise Error(f"{arrived.name} cannot be read: {error.strerror}", path=path) from error
    if inner == "core":
        arrived.keep(stored)
        return arrived
    with stored:
        _read_dump(arrived, stored, sysroot)
    return arrived


def open_arrived(arrived: Arrived, exe: str, search: Search) -> ProcessImage:
    """Opens what was received. Raises Error, which calls it by its name."""
    from whocall.core.image import open_core

    converter = arrived.converter
    try:
        image = (
            open_core(arrived.path, exe, search=search)
            if converter is None
            else converter.image(exe, search)
        )
    except Error as error:
        if converter is not None or arrived.path not in str(error):
            raise
        text = str(error).replace(arrived.path, arrived.name)
        if arrived.damage:  # more to the point than what is missing for it
            text = f"{arrived.damage} too little; copy it anew"
        raise Error(text, path=arrived.name, reason=error.reason, remedy=error.remedy) from error
    missing = converter.remarks() if converter is not None else []
    image.came_as(arrived.name, arrived.fields, arrived.remarks + missing, arrived.as_core)
    return image

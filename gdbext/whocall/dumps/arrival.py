"""Makes of an input of any kind a core that can be opened."""

from __future__ import annotations

import os
from typing import BinaryIO

from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.native_errors import native_sentences
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.regular_file import open_stream, standard_input
from whocall.dumps import kinds, sparse

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.dumps.minidump_core import Converter


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


def _unpacked(arrived: Arrived, source: BinaryIO, into: BinaryIO | None) -> tuple[str, BinaryIO]:
    """What kind of crash is inside, and all of it: in a temporary file, or a core in `into`. What a
    damaged stream still held is good. Raises Error.
    """
    with native_sentences():
        packed = native.PackedCrash(source.fileno(), os.fsencode(arrived.name))
        arrived.fields.update(packed.fields)
        file = into if into is not None and packed.kind == "core" else sparse.temporary()
        packed.write(file.fileno(), os.fsencode(sparse.folder()))
    if packed.damage:
        arrived.damage = (
            f"{arrived.name} cannot be unpacked to its end: {packed.damage}; what came before it is"
        )
        arrived.remarks.append(f"{arrived.damage} used.")
    return packed.kind, file


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
        from whocall.dumps.coredump_attributes import fields_of_file

        arrived.fields = fields_of_file(path)
    if kind == "core" and into is None:
        return arrived
    with _opened(path) as file:
        try:
            if kind in ("minidump", "microdump"):
                _read_dump(arrived, file, sysroot)
                return arrived
            inner, stored = _unpacked(arrived, file, into)
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
    from whocall.base.process_image import open_core

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

"""Opens a core of any kind, with files out of a directory or a container image."""

from __future__ import annotations

import os
from collections.abc import Callable

from whocall.base.file_search import Search
from whocall.base.process_image import ProcessImage
from whocall.base.process_image import open_core as open_plain_core
from whocall.container_images.container import is_image, require_root
from whocall.dumps.arrival import Arrived, open_arrived, receive
from whocall.dumps.kinds import kind_of_path


def in_root(
    open_it: Callable[[Search], ProcessImage], search: Search, by_name: bool = False
) -> ProcessImage:
    """What `open_it` opens, with the files of an image where `search.sysroot` is one.

    `by_name`: its libraries may be known by name alone.
    """
    if search.sysroot:
        require_root(search.sysroot)
    if not search.sysroot or not is_image(search.sysroot):
        return open_it(search)
    from whocall.container_images.image_root import opened_with_image

    return opened_with_image(open_it, search, by_name)


def open_core(
    path: str | os.PathLike[str],
    exe: str | os.PathLike[str] = "",
    *,
    search: Search = Search(),
) -> ProcessImage:
    """The core at `path`, packed or not, or what a minidump or a crash report at `path` holds.

    `exe` is the program; without it the core's own notes name it. Raises Error.
    """
    path, exe = os.fspath(path), os.fspath(exe)
    if kind_of_path(path) in ("core", "elf", ""):
        return in_root(lambda where: open_plain_core(path, exe, search=where), search)
    return open_received(receive(path, search.sysroot), exe, search)


def open_received(arrived: Arrived, exe: str, search: Search) -> ProcessImage:
    """The same of what was received already."""
    converter = arrived.converter
    if exe and converter is not None:
        converter.take_program(exe)

    def open_it(where: Search) -> ProcessImage:
        if converter is not None:
            converter.place(where.sysroot)
        return open_arrived(arrived, exe, where)

    if not search.sysroot:
        return open_arrived(arrived, exe, search)
    return in_root(open_it, search, by_name=converter is not None)

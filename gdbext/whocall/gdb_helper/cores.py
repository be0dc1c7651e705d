"""The cores that the helper has read, kept until gdb has others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whocall.base import cut_files
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.process_image import ProcessImage, open_core
from whocall.gdb_helper.current import (
    Current,
    ThreadsWantedError,
    descriptor_of,
    indices,
    numbers_in_order,
    stamps_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    from whocall.base.downloads import Progress
    from whocall.report.form.jsonform import Json


def search_from(found: Json, progress: Progress | None) -> Search:
    """Where to look for files and names, as gdb tells it."""
    lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
    return Search(**{**found, **lists}, progress=progress)


class Cores:
    """By gdb's number of the inferior."""

    def __init__(self, gdb: int) -> None:
        self._gdb = gdb
        self._kept: dict[int, tuple[Hashable, ProcessImage]] = {}
        self._numbers: dict[int, tuple[ProcessImage, dict[int, int]]] = {}

    def current(self, wanted: Json, search: Search) -> Current:
        """What gdb has selected. Raises Error, and ThreadsWantedError."""
        of, number = wanted["core"], wanted["thread"]["number"]
        image = self._image(of, search)
        if wanted["threads"] is not None:
            numbers = indices(image, wanted["threads"])
        elif wanted["every_thread"]:
            numbers = self._every_number(of["inferior"], image, wanted["thread"])
        else:
            numbers = indices(image, [(number, wanted["thread"]["lwp"])])
            numbers = numbers or self._every_number(of["inferior"], image, wanted["thread"])
        selected = next((at for at, each in numbers.items() if each == number), None)
        if selected is None:
            raise Error(f"whocall does not find gdb's thread {number} in the process.")
        return Current(image, selected, numbers)

    def close(self) -> None:
        """What was found out of their files is kept for the next time."""
        for _, image in self._kept.values():
            image.close()
        self._kept.clear()

    def _image(self, of: Json, search: Search) -> ProcessImage:
        core, exe = of["core"], of["exe"]
        descriptor = descriptor_of(core, self._gdb)
        path = core if descriptor is None else f"/proc/self/fd/{descriptor}"
        key = (core, exe, of["changes"], stamps_of(path, exe), search, cut_files.told())
        known = self._kept.get(of["inferior"])
        if known is not None and known[0] == key:
            return known[1]
        self._kept.pop(of["inferior"], None)
        self._numbers.pop(of["inferior"], None)
        image = _opened(core, path, exe, search)
        self._kept[of["inferior"]] = key, image
        return image

    def _every_number(self, inferior: int, image: ProcessImage, thread: Any) -> dict[int, int]:
        known = self._numbers.get(inferior)
        if known is not None and known[0] is image:
            return known[1]
        numbers = numbers_in_order(image, thread["number"], thread["ptid_lwp"])
        if not numbers:
            raise ThreadsWantedError
        self._numbers[inferior] = image, numbers
        return numbers


def _opened(core: str, path: str, exe: str, search: Search) -> ProcessImage:
    if path == core:
        return open_core(core, exe, search=search)
    try:
        image = open_core(path, exe, search=search)
    except Error as error:
        raise Error(str(error).replace(path, core)) from error
    image.came_as(core, {}, image.own_warnings, None)
    return image

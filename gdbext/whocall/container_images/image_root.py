"""`--sysroot IMAGE`: of a container image, the files that a process maps, and no others."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

from whocall.base.blocked_signals import END, held
from whocall.base.file_search import Search
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.records import replace
from whocall.container_images.container import layers_of
from whocall.container_images.layers import Layers, parts_of
from whocall.container_images.merged_tree import MergedTree, Node
from whocall.dumps import sparse

_ROUNDS = 3  # a program's file may tell of libraries that its core does not name
_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes, as the kernel allows
_DEBUG = "/usr/lib/debug"


def _ended(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)  # so that what was made is removed


class ImageRoot:
    """A directory that stands for the root of an image, with the files that were asked for."""

    def __init__(self, path: str, arch: str) -> None:
        self._layers: Layers = layers_of(path, arch)
        self._tree = MergedTree(self._layers)
        self._size = 0
        self._asked: set[str] = set()
        with held(END):
            self.path = tempfile.mkdtemp(prefix="whocall-", dir=sparse.place())
            atexit.register(shutil.rmtree, self.path, ignore_errors=True)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _ended)

    def take(self, paths: Iterable[str]) -> None:
        """Copies those of the absolute paths that the image has, links followed."""
        wanted: dict[tuple[int, str, int], list[str]] = {}
        new = set(paths) - self._asked
        self._asked |= new
        for path in sorted(new):
            node = self._tree.find(path)
            if node is not None and parts_of(path) and self._fits(path):
                self._count(node)
                wanted.setdefault((node.layer, node.name, node.size), []).append(path)
        for layer in sorted({layer for layer, *_ in wanted}):
            self._take_of_layer(
                layer,
                {
                    (name, size): places
                    for (at, name, size), places in wanted.items()
                    if at == layer
                },
            )

    def _fits(self, path: str) -> bool:
        """Whether the kernel takes the path: a layer may hold names that are longer than any."""
        names = [os.fsencode(part) for part in parts_of(path) or []]
        return len(self.path) + sum(map(len, names)) + len(names) < _LONGEST_PATH and all(
            len(name) <= _LONGEST_NAME for name in names
        )

    def _count(self, node: Node) -> None:
        self._size += node.size
        sparse.require_room(self._size, self._layers.name)

    def _take_of_layer(self, layer: int, wanted: dict[tuple[str, int], list[str]]) -> None:
        for reader, member in self._layers.members(layer):
            places = wanted.get((member.name, member.size), [])
            if not places or member.kind != "file":
                continue
            first, *others = (self._place(path) for path in places)
            with open(first, "wb") as file:
                sparse.write_sparse(reader.contents(), file, f"{self._layers.name}: {member.name}")
            for other in others:
                shutil.copyfile(first, other)

    def _place(self, path: str) -> str:
        """Below our directory, where there are no links."""
        place = os.path.join(self.path, *(parts_of(path) or ["file"]))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place

    def take_for(self, image: ProcessImage, by_name: bool) -> set[str]:
        """The files of all modules, and their debug files; returns what was asked for.

        `by_name`: libraries may be known by name alone, so they lie in any folder of libraries.
        """
        asked = set()
        for module in image.modules:
            if module.path.startswith("/"):
                asked.add(module.path.removesuffix(" (deleted)"))
            if by_name and ".so" in module.path:
                asked |= set(self._places_of_library(os.path.basename(module.path)))
            identity = module.build_id_in_memory
            if identity:
                asked.add(f"{_DEBUG}/.build-id/{identity[:2]}/{identity[2:]}.debug")
        self.take(asked)
        return asked

    def _places_of_library(self, name: str) -> Iterable[str]:
        folders, parents, ends = native.library_folders()
        more = [f"{parent}/{entry}" for parent in parents
                for entry in self._tree.folder(parent) if entry.endswith(tuple(ends))]  # fmt: skip
        return (f"/{folder}/{name}" for folder in [*folders, *more])


_roots: dict[tuple[object, ...], ImageRoot] = {}


def _root(path: str, arch: str) -> ImageRoot:
    """Of many cores of one container the image is read once."""
    index = os.path.join(path, "index.json")
    status = os.stat(index if os.path.isfile(index) else path)
    key = (path, arch, status.st_ino, status.st_size, status.st_mtime_ns)
    if key not in _roots:
        _roots[key] = ImageRoot(path, arch)
    return _roots[key]


def opened_with_image(
    open_it: Callable[[Search], ProcessImage], search: Search, by_name: bool
) -> ProcessImage:
    """Opens a process whose files lie in the image that is named as `search.sysroot`.

    `by_name` as for take_for().
    """
    image = open_it(replace(search, sysroot="", debuginfod=False))
    root = _root(search.sysroot, image.arch)
    wanted = replace(
        search,
        sysroot=root.path,
        debug_directories=[root.path + _DEBUG, *search.debug_directories],
    )
    known: set[str] = set()
    for _ in range(_ROUNDS):
        asked = root.take_for(image, by_name)
        if asked <= known:
            break
        known |= asked
        image.close()
        image = open_it(wanted)
    image.files_root = root.path
    return image

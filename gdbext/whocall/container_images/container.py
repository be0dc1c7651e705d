"""Container images: OCI layouts (a directory, or a tar of one) and what `docker save` writes.

Of an image only its list of layers is read here. Everything in it was written by somebody else:
digests are checked for their form, so that no blob lies elsewhere, and indices that lead to each
other in a circle end.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, BinaryIO

from whocall.base.architecture import architecture
from whocall.base.errors import Error
from whocall.base.long_work import share_of, working
from whocall.base.native_module import native
from whocall.base.regular_file import open_regular
from whocall.container_images.layers import Layers, Opener, Part, parts_of
from whocall.dumps import sparse
from whocall.dumps.kinds import HEAD, PACKINGS, kind_of
from whocall.dumps.streams import DamagedStreamError, Stream
from whocall.dumps.tar_members import TarFaultError, TarReader

_DIGEST = re.compile(r"(sha256|sha512):([0-9a-f]{32,128})\Z")
_DEPTH = 4  # of indices
_LONGEST = 8 << 20  # bytes of a list
_MOST_LAYERS = 1 << 10  # storage drivers stack about a hundred
_MOST_FILES = 1 << 16  # of an image in a tar: its layers and lists
_UNKNOWN = "unknown"  # the platform of attestations, which are no images


class _Folder:
    """The files of a layout in a directory."""

    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, name: str) -> Part | None:
        # A list may name what is elsewhere, by itself or through links.
        root = os.path.realpath(self._path)
        path = os.path.realpath(os.path.join(root, name))
        if parts_of(name) is None or name.startswith("/") or not path.startswith(root + "/"):
            return None
        try:
            return Part.whole(open_regular(path))
        except OSError:
            return None


def _plain(path: str) -> BinaryIO:
    """The file, unpacked where it is packed."""
    with open_regular(path) as packed:
        if kind_of(packed.read(HEAD)) in PACKINGS:
            file = sparse.temporary()
            Stream(packed, path).write_to(file)
            file.seek(0)
            return file
    return open_regular(path)


class _Tar:
    """The files of a layout in a tar, which is not unpacked."""

    def __init__(self, path: str) -> None:
        self._file = _plain(path)
        self._parts: dict[str, tuple[int, int]] = {}
        links = {}
        for count, member in enumerate(TarReader(self._read, self._skip)):
            working(f"Reading {path}", share_of(self._file))
            if count == _MOST_FILES:
                raise TarFaultError(f"it holds more than {_MOST_FILES} files")
            name = os.path.normpath(member.name)
            if member.kind == "file":
                self._parts[name] = member.place, member.size
            elif member.kind in ("symbolic link", "hard link"):
                base = os.path.dirname(name) if member.kind == "symbolic link" else ""
                links[name] = os.path.normpath(os.path.join(base, member.target))
        # Old versions of docker save a layer that occurs twice as a link.
        for name, target in links.items():
            if target in self._parts:
                self._parts.setdefault(name, self._parts[target])

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            piece = self._file.read(size)
            if not piece:
                break
            parts.append(piece)
            size -= len(piece)
        return b"".join(parts)

    def _skip(self, size: int) -> bool:
        self._file.seek(size - 1, os.SEEK_CUR)
        return self._file.read(1) != b""

    def open(self, name: str) -> Part | None:
        part = self._parts.get(os.path.normpath(name))
        return None if part is None else Part(self._file, *part)


class _Image:
    def __init__(self, name: str, files: _Folder | _Tar, arch: str) -> None:
        self.name = name
        self.files = files
        self.arch = arch

    def fault(self, reason: str) -> Error:
        return Error(f"{self.name} cannot be used as a container image: {reason}", path=self.name)

    def listed(self, name: str) -> Any:
        """A file of JSON; None where there is none."""
        part = self.files.open(name)
        if part is None:
            return None
        try:
            return json.loads(part.read(_LONGEST))
        except (ValueError, RecursionError):
            raise self.fault(f"{name} is not JSON; save it anew") from None

    def blob(self, descriptor: Any) -> str:
        match = _DIGEST.match(str(descriptor.get("digest", "")))
        if match is None:
            raise self.fault("it names a blob by what is no digest; save it anew")
        return f"blobs/{match[1]}/{match[2]}"

    def manifest(self, index: Any, depth: int = 0) -> Any:
        """The manifest that an index leads to, of the core's instruction set if there are more."""
        rows = [row for row in index.get("manifests", []) if not self._is_none(row)]
        fitting = [row for row in rows if self._platform(row) in ("", self.arch)] or rows
        if len(fitting) > 1:
            named = ", ".join(sorted({self._title(row) for row in fitting}))
            raise self.fault(f"it holds {len(fitting)} images ({named}); save one alone")
        if not fitting:
            raise self.fault("it holds no image")
        found = self.listed(self.blob(fitting[0]))
        if not isinstance(found, dict):
            raise self.fault("its manifest is missing; save it anew")
        if "manifests" in found:
            if depth == _DEPTH:
                raise self.fault("its indices lead from one to the next without end")
            return self.manifest(found, depth + 1)
        return found

    def _is_none(self, row: Any) -> bool:
        return bool((row.get("platform") or {}).get("architecture") == _UNKNOWN)

    def _platform(self, row: Any) -> str:
        name = (row.get("platform") or {}).get("architecture", "")
        known = {architecture(each).image_name: each for each in native.architectures()}
        return str(known.get(name, name) if name else "")

    def _title(self, row: Any) -> str:
        notes = row.get("annotations") or {}
        title = notes.get("org.opencontainers.image.ref.name") or self._platform(row)
        return str(title or row.get("digest"))

    def layer_names(self) -> list[str]:
        """The names of its files that are layers, lowest first."""
        index = self.listed("index.json")
        if isinstance(index, dict):
            return [self.blob(row) for row in self.manifest(index).get("layers", [])]
        saved = self.listed("manifest.json")
        if not isinstance(saved, list) or not all(isinstance(row, dict) for row in saved):
            raise self.fault("it has neither index.json nor manifest.json; name a directory, an OCI"
                             " layout, or what `docker save` wrote")  # fmt: skip
        if len(saved) != 1:
            tags = ", ".join(str(tag) for row in saved for tag in row.get("RepoTags") or [])
            raise self.fault(f"it holds {len(saved)} images ({tags}); save one alone")
        return [str(name) for name in saved[0].get("Layers", [])]


def require_root(path: str) -> None:
    """Raises Error where there is nothing at `path` that files could come from."""
    try:
        os.stat(path)
    except OSError as error:
        raise Error(
            f"{path}: there are no files of a machine: {error.strerror}; name a copy of its root"
            " directory, an OCI layout, or what `docker save` wrote",
            path=path,
        ) from error


def is_image(path: str) -> bool:
    """Whether it is no plain directory: a file, or a directory that is an OCI layout."""
    return os.path.isfile(path) or os.path.isfile(os.path.join(path, "oci-layout"))


def layers_of(path: str, arch: str) -> Layers:
    """Of the image at `path`; `arch` is ours. Raises Error."""
    try:
        files = _Folder(path) if os.path.isdir(path) else _Tar(path)
        image = _Image(path, files, arch)
        names = image.layer_names()
    except (TarFaultError, DamagedStreamError, OSError) as error:
        raise Error(
            f"{path} cannot be read as a container image: {error}; name a directory, an OCI layout,"
            " or what `docker save` wrote",
            path=path,
        ) from error
    except (AttributeError, TypeError) as error:
        raise Error(
            f"{path} cannot be used as a container image: its lists make no sense; save it anew"
        ) from error
    if len(names) > _MOST_LAYERS:
        raise image.fault(f"it lists {len(names)} layers; save it anew")

    def opener(name: str) -> Opener:
        def open_it() -> Part:
            part = files.open(name)
            if part is None:
                raise image.fault(f"its layer {name} is missing; save it anew")
            return part

        return open_it

    return Layers(path, [opener(name) for name in names])

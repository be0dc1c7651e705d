"""Bombs that are images of containers, whose files a core is to find."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import core, file_note, status

MIB = 1 << 20


def _open(folder: Path, image: Path) -> list[Command]:
    """A core of files that the image may have."""
    rows = [(0x10000 * at, 0x10000 * at + 0x8000, 0) for at in range(1, 65)]
    paths = b"".join(b"/usr/lib/lib%d.so\0" % at for at in range(64))
    made = core(status(1), file_note(rows, paths)).write(folder / "core")
    return [
        ["bt", str(made), "--sysroot", str(image)],
        ["modules", str(made), "--sysroot", str(image)],
    ]


def _member(tar: tarfile.TarFile, name: str, contents: bytes = b"", link: str = "") -> None:
    info = tarfile.TarInfo(name)
    if link:
        info.type, info.linkname = tarfile.SYMTYPE, link
    info.size = len(contents)
    tar.addfile(info, io.BytesIO(contents))


def _image(path: Path, layers: list[tuple[str, bytes]], listed: list[str]) -> Path:
    manifest = json.dumps([{"Config": "c.json", "RepoTags": [], "Layers": listed}]).encode()
    with tarfile.open(path, "w") as tar:
        _member(tar, "manifest.json", manifest)
        _member(tar, "c.json", b"{}")
        for name, contents in layers:
            _member(tar, name, contents)
    return path


@bomb("image")
def entries_without_end(folder: Path) -> list[Command]:
    """A layer of 60,000 files."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w") as tar:
        for at in range(60_000):
            _member(tar, f"usr/lib/d{at % 1000}/f{at}")
    layer = gzip.compress(block.getvalue(), 1)
    return _open(folder, _image(folder / "image.tar", [("l.tar", layer)], ["l.tar"]))


@bomb("image")
def layer_of_zeros(folder: Path) -> list[Command]:
    """A layer that becomes 2 GiB."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w") as tar:
        _member(tar, "usr/lib/lib1.so", b"\x7fELF")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        info = tarfile.TarInfo("usr/lib/lib0.so")
        info.size = 2048 * MIB
        file.write(info.tobuf())
    layer = packed.getvalue() + gzip.compress(bytes(64 * MIB)) * 32
    layer += gzip.compress(block.getvalue())
    return _open(folder, _image(folder / "image.tar", [("l.tar", layer)], ["l.tar"]))


@bomb("image")
def one_layer_again_and_again(folder: Path) -> list[Command]:
    """A list that names one layer 100,000 times."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w") as tar:
        _member(tar, "usr/lib/lib0.so", bytes(MIB))
    image = _image(folder / "image.tar", [("l.tar", block.getvalue())], ["l.tar"] * 100_000)
    return _open(folder, image)


@bomb("image")
def list_of_lists(folder: Path) -> list[Command]:
    """A list of layers that is nested 100,000 deep."""
    path = folder / "image.tar"
    with tarfile.open(path, "w") as tar:
        _member(tar, "manifest.json", b"[" * 100_000 + b"]" * 100_000)
    return _open(folder, path)


@bomb("image")
def links_to_links(folder: Path) -> list[Command]:
    """A chain of 50,000 links, and one in a circle."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w") as tar:
        for at in range(50_000):
            _member(tar, f"usr/lib/l{at}", link=f"l{at + 1}")
        for at in range(64):
            _member(tar, f"usr/lib/lib{at}.so", link="l0" if at % 2 else f"lib{at}.so")
    return _open(folder, _image(folder / "image.tar", [("l.tar", block.getvalue())], ["l.tar"]))


@bomb("image")
def name_of_megabytes(folder: Path) -> list[Command]:
    """A file whose name has 32 MB."""
    block = io.BytesIO()
    with tarfile.open(fileobj=block, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _member(tar, "usr/lib/" + "n/" * (16 * MIB))
    return _open(folder, _image(folder / "image.tar", [("l.tar", block.getvalue())], ["l.tar"]))

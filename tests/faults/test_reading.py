"""What is no regular file is never opened: neither where a user names it, nor where a core, an
image or a store does.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from acceptance.bad_input.bombs import symbol_files
from attacker import told

from faults.commands import Place, run
from faults.watch import watching
from whocall.base.regular_file import open_regular, open_stream
from whocall.container_images.image_root import ImageRoot

STORED = f"core.prog.0.{'a' * 32}.77.1700000000000000"


def problem(place: Place, fifo: Path) -> list[str | Path]:
    """A directory of ABRT, with a field that is none."""
    folder = place.folder / "problem"
    folder.mkdir()
    (folder / "type").write_text("CCpp")
    fifo.rename(folder / "coredump")
    return ["bt", folder]


def image(place: Place, fifo: Path) -> list[str | Path]:
    """An OCI layout whose list is none."""
    folder = place.folder / "image"
    folder.mkdir()
    (folder / "oci-layout").write_text("{}")
    fifo.rename(folder / "index.json")
    return ["bt", place.core, "--sysroot", folder]


def module(place: Place, fifo: Path) -> list[str | Path]:
    """In a search path, where the core's program would be."""
    fifo.rename(place.folder / place.exe.name)
    return ["bt", place.core, "--search", place.folder]


def store(place: Place, fifo: Path) -> list[str | Path]:
    """In a store of systemd-coredump, the newest crash."""
    fifo.rename(place.folder / STORED)
    return ["bt", "--crash", "77", "--store", place.folder]


def archive(place: Place, fifo: Path) -> list[str | Path]:
    """What a core says to have mapped a library out of."""
    fifo.rename(place.folder / "base.apk")
    return ["bt", told.crash(place.folder, bytes(place.folder / "base.apk"), told.PAGE, 1)]


def library(place: Place, fifo: Path) -> list[str | Path]:
    """A library of Windows that a core says to have mapped."""
    fifo.rename(place.folder / "some.dll")
    return ["bt", told.crash(place.folder, bytes(place.folder / "some.dll"), told.PAGE)]


def perf_map(place: Place, fifo: Path) -> list[str | Path]:
    """Beside the core, of its process."""
    made, search = told.perf_map(place.folder, b"name")
    fifo.rename(place.folder / f"perf-{told.PID}.map")
    return ["bt", made, search]


def stored_list(place: Place, fifo: Path) -> list[str | Path]:
    """In a store of Breakpad's."""
    commands = symbol_files.a_store_of_many(place.folder)
    (there,) = place.folder.rglob("*.sym")
    fifo.rename(there)
    return [*commands[0]]


NAMED: dict[str, Callable[[Place, Path], list[str | Path]]] = {
    "core": lambda place, fifo: ["bt", fifo],
    "exe": lambda place, fifo: ["bt", place.core, fifo],
    "file": lambda place, fifo: ["functions", fifo],
    "log": lambda place, fifo: ["resolve", fifo],
    "maps": lambda place, fifo: ["resolve", "/dev/null", "--maps", fifo],
    "symbols": lambda place, fifo: ["bt", place.core, "--symbols", fifo],
    "signatures": lambda place, fifo: ["bt", place.core, "--signatures", fifo],
    "gdb-frames": lambda place, fifo: ["compare", place.core, "--gdb-frames", fifo],
    "trace": lambda place, fifo: ["trace", fifo],
    "archive": lambda place, fifo: ["signatures", fifo, "-o", place.folder / "out"],
    "minidump": lambda place, fifo: ["unpack", fifo, "-o", place.folder / "out"],
    "sysroot": lambda place, fifo: ["bt", place.core, "--sysroot", fifo],
    "triage": lambda place, fifo: ["triage", fifo],
    "triage's store": lambda place, fifo: ["triage", place.core, "--store", fifo],
    "serve's folder": lambda place, fifo: ["serve", fifo, "--port", "0"],
    "problem": problem,
    "image": image,
    "module": module,
    "archive of a core": archive,
    "library of a core": library,
    "perf map": perf_map,
    "list of a store": stored_list,
    "list": lambda place, fifo: ["bt", place.core, "--symbols", f"prog={fifo}"],
    "store": store,
}


@pytest.mark.parametrize("what", NAMED)
def test_a_fifo_is_never_opened(what: str, place: Place) -> None:
    """Its writer would be let go and lose what it writes, and we might wait for it for good."""
    fifo = place.folder / "fifo"
    os.mkfifo(fifo)
    arguments = NAMED[what](place, fifo)
    (there,) = [path for path in place.folder.rglob("*") if path.is_fifo()]
    with watching(there) as openings:
        ran = run(arguments)
        assert not openings.any()
    assert "Traceback" not in ran.stderr
    assert ran.returncode in (0, 1), ran.stderr


def test_what_a_shell_opened_is_read(place: Place) -> None:
    """`whocall bt <(cat core)`: by the descriptor that is there."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as out, place.core.open("rb") as core:
            shutil.copyfileobj(core, out)
        os._exit(0)
    os.close(writing)
    ran = run(["bt", f"/dev/fd/{reading}", place.exe], pass_fds=(reading,))
    os.close(reading)
    os.wait()
    assert "#1" in ran.stdout, ran.stderr


def test_the_door_itself(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    with open_regular(tmp_path / "link") as file:
        assert file.read() == b"text"
    for path, error in ((tmp_path, IsADirectoryError), (tmp_path / "none", FileNotFoundError)):
        with pytest.raises(error):
            open_regular(path)
    with pytest.raises(OSError, match="no regular file"):
        open_regular("/dev/null")
    with pytest.raises(OSError, match="Bad file descriptor"):
        open_stream("/dev/fd/99999")


def test_an_image_leads_nowhere_else(place: Place) -> None:
    """Links and `..` of a layout in a directory: a list names what lies in it, and nothing else."""
    secret = place.folder / "secret.tar"
    with tarfile.open(secret, "w") as tar:
        tar.add(place.exe, arcname=str(place.exe)[1:])
    folder = place.folder / "image"
    folder.mkdir()
    (folder / "oci-layout").write_text("{}")
    (folder / "manifest.json").write_text('[{"Layers": ["layer.tar"]}]')
    (folder / "layer.tar").symlink_to(secret)
    ran = run(["bt", place.core, "--sysroot", folder])
    assert ran.returncode == 1
    assert "layer.tar" in ran.stderr


def test_names_of_an_image_that_no_disk_takes(place: Place) -> None:
    """They are left out, and what fits is taken all the same."""
    long, deep = "/usr/" + "x" * 300, "/a" * 2500
    image, layer = place.folder / "image.tar", place.folder / "layer.tar"
    with tarfile.open(layer, "w", format=tarfile.GNU_FORMAT) as tar:
        for name in (long, deep, "/usr/fits"):
            tar.add(place.exe, arcname=name[1:])
    (place.folder / "manifest.json").write_text('[{"Layers": ["layer.tar"]}]')
    with tarfile.open(image, "w") as tar:
        for name in ("manifest.json", "layer.tar"):
            tar.add(place.folder / name, arcname=name)
    root = ImageRoot(str(image), "x86_64")
    root.take([long, deep, "/usr/fits"])
    found = [path for path in Path(root.path).rglob("*") if path.is_file()]
    assert [path.name for path in found] == ["fits"]

"""Libraries that lie in an archive as they are, and are mapped right out of it: Android's packages
(base.apk!libx.so). The names are those of the twins, which keep their symbols.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import run

import whocall as api
from whocall.base.process_image import Walk

HERE = Path(__file__).parent
PAGE = 4096
CHAIN = [
    "crashing", "deepest", "middle", "entry", "between", "deepest", "middle", "entry", "main",
]  # fmt: skip
ALL, DEFAULT = 0x7F, 0x33
LAYOUTS = {"code apart": "-Wl,-z,separate-code", "one of all": "-Wl,-z,noseparate-code"}


def _store(archive: zipfile.ZipFile, name: str, data: bytes) -> int:
    """Puts the bytes at a whole page, as zipalign does; where they begin."""
    entry = zipfile.ZipInfo(name)
    begin = archive.fp.tell() + 30 + len(name)  # type: ignore[union-attr]
    padding = -(begin + 4) % PAGE
    entry.extra = struct.pack("<HH", 0xD935, padding) + bytes(padding)
    archive.writestr(entry, data)
    return begin + 4 + padding


@dataclass(frozen=True)
class Packed:
    """The archive and the program that maps it."""

    archive: Path
    exe: Path

    def core(self, dumped: int) -> Path:
        return crash(self.exe, self.exe.parent, dumped=dumped).core


def packed(place: Path, layout: str, *flags: str, ending: str = "apk") -> Packed:
    """Two stripped libraries behind a file that is no library."""
    archive = place / f"base.{ending}"
    defined = [f'-DARCHIVE="{archive}"']
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("classes.dex", b"dex\n035" * 3000)
        for name in ("first", "second"):
            twin, bare = place / f"{name}.twin", place / f"lib{name}.so"
            run(["gcc", "-O1", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector",
                 f"-DPREFIX={name}", "-fno-optimize-sibling-calls", layout, "-Wl,-z,norelro",
                 f"-Wl,-soname,other{name}.so", "-o", str(twin),
                 str(HERE / "zip_library.c")])  # fmt: skip
            run(["strip", "-o", str(bare), str(twin)])
            at = _store(made, f"lib/x86_64/{bare.name}", bare.read_bytes())
            rows = [row.split() for row in run(["nm", str(twin)]).splitlines()]
            (entry,) = [row[0] for row in rows if row[-1] == f"{name}_entry"]
            defined += [f"-D{name.upper()}={at}", f"-D{name.upper()}_ENTRY=0x{entry}"]
    exe = place / "prog"
    run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", *defined, *flags, "-o", str(exe),
         str(HERE / "zip_loader.c")])  # fmt: skip
    return Packed(archive, exe)


def _frames(core: Path, place: Path, sysroot: Path | None = None) -> list[tuple[str, str, str]]:
    """By the twins' names; what is at no place of theirs has its own."""
    search = api.Search(sysroot=str(sysroot or ""))
    with api.open_core(str(core), search=search) as image:
        (thread,) = image.report(walk=Walk()).threads
    found = []
    for frame in thread.frames:
        name, module = frame.function or "", Path(frame.module or "").name
        for library in ("first", "second"):
            if module.partition("!")[2] in (f"lib{library}.so", f"other{library}.so"):
                rows = run(["nm", str(place / f"{library}.twin")]).splitlines()
                starts = [(int(row.split()[0], 16), row.split()[-1]) for row in rows]
                at = (frame.rva or 0) - (frame.trust != "context")
                true = max(each for each in starts if each[0] <= at)[1]
                assert true.startswith(f"{library}_")
                assert name in (true, f"sub_{max(each[0] for each in starts if each[0] <= at):x}")
                name = true.partition("_")[2]
        found.append((name, module, str(frame.trust)))
    return found


def _libraries(frames: list[tuple[str, str, str]]) -> list[str]:
    return [module for _, module, _ in frames if module != "prog"]


@pytest.mark.parametrize(
    ("layout", "ending", "order"),
    [("code apart", "apk", []), ("one of all", "apk", []), ("code apart", "zip", ["-DSWAPPED"])],
)
def test_frames_in_libraries_of_an_archive(
    layout: str, ending: str, order: list[str], tmp_path: Path
) -> None:
    """The core has none of their code, and says of them no more than the archive's name."""
    made = packed(tmp_path, LAYOUTS[layout], *order, ending=ending)
    frames = _frames(made.core(DEFAULT), tmp_path)
    assert [name for name, _, _ in frames[: len(CHAIN)]] == CHAIN
    assert {trust for _, _, trust in frames[1 : len(CHAIN)]} == {"cfi"}
    second, first = [f"base.{ending}!libsecond.so"] * 3, [f"base.{ending}!libfirst.so"] * 3
    assert _libraries(frames[: len(CHAIN)]) == [*second, *first]


def test_the_archive_lies_in_a_copy_of_the_machine(tmp_path: Path) -> None:
    made = packed(tmp_path, LAYOUTS["code apart"])
    core = made.core(DEFAULT)
    copy = tmp_path / "copy"
    moved = copy / made.archive.relative_to("/")
    moved.parent.mkdir(parents=True)
    made.archive.rename(moved)
    frames = _frames(core, tmp_path, copy)
    assert [name for name, _, _ in frames[: len(CHAIN)]] == CHAIN


@pytest.mark.parametrize("order", [[], ["-DSWAPPED"]], ids=["", "swapped"])
def test_the_archive_is_gone(order: list[str], tmp_path: Path) -> None:
    """Memory holds all of it: the libraries are called what they call themselves."""
    made = packed(tmp_path, LAYOUTS["code apart"], *order)
    core = made.core(ALL)
    made.archive.unlink()
    frames = _frames(core, tmp_path)
    assert [name for name, _, _ in frames[: len(CHAIN)]] == CHAIN
    assert (
        _libraries(frames[: len(CHAIN)])
        == ["base.apk!othersecond.so"] * 3 + ["base.apk!otherfirst.so"] * 3
    )


@pytest.mark.parametrize("damage", ["other bytes", "cut off", "no ELF file", "another library"])
def test_an_archive_that_is_not_the_one(damage: str, tmp_path: Path) -> None:
    """It lends nothing that is not proven: no frame but by what memory itself has."""
    made = packed(tmp_path, LAYOUTS["code apart"])
    core = made.core(DEFAULT)
    data = bytearray(made.archive.read_bytes())
    second = data.rindex(b"\x7fELF")
    first = data.index(b"\x7fELF")
    if damage == "other bytes":
        data[first + 32 : first + 40] = data[second + 32 : second + 40] = b"\xff" * 8
    elif damage == "cut off":
        del data[first + 60 :]
    elif damage == "no ELF file":
        data[first : first + 4] = data[second : second + 4] = b"zzzz"
    else:
        data[first:second], data[second:] = bytes(second - first), data[first:second]
    made.archive.write_bytes(data)
    frames = _frames(core, tmp_path)
    assert frames[0][0] == "crashing"
    assert all("!" not in module for _, module, _ in frames if damage != "another library")

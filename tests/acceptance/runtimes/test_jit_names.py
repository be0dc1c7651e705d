"""Names of code that a compiler put into memory: perf maps and jitdumps, live and of cores.

The oracle is the program itself, which knows what it put where (jit_program.c).
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus.crash import crash
from oracles.tools import run

from acceptance.helpers.stopped_processes import stopped
from whocall import ProcessImage, Search, open_core, open_process

PROGRAM = Path(__file__).with_name("jit_program.c")
NOWHERE = Search(debug_directories=[])
MAPPED = ["stop", "inner", "Outer::run(int, char*)", "main"]
DUMPED = ["stop", "inner", "outer", "main"]


def build(directory: Path, *flags: str) -> Path:
    """The program, with its own symbols."""
    program = directory / "program"
    run(["gcc", "-O1", "-fno-omit-frame-pointer", *flags, str(PROGRAM), "-o", str(program)])
    return program


def chain(image: ProcessImage) -> list[tuple[str | None, str | None]]:
    """(function, source of the name) from the crash or stop outwards, without the C library."""
    frames = image.backtrace(image.index_of_crash()).frames
    found = [(frame.function, frame.name_source) for frame in frames]
    at = next(index for index, each in enumerate(found) if each[0] == "stop")
    return found[at:]


def names(image: ProcessImage) -> list[str | None]:
    """The functions of the chain."""
    return [name for name, _ in chain(image)]


@contextmanager
def perf_map_of_live(program: Path, directory: Path) -> Iterator[tuple[int, Path]]:
    """The process and its map, which is removed."""
    with stopped(program, directory) as pid:
        path = Path(f"/tmp/perf-{pid}.map")
        try:
            yield pid, path
        finally:
            path.unlink(missing_ok=True)


def test_perf_map_of_a_live_process(tmp_path: Path) -> None:
    program = build(tmp_path, '-DMAP="/tmp"')
    with perf_map_of_live(program, tmp_path) as (pid, path):
        with open_process(pid, search=NOWHERE) as image:
            assert names(image) == MAPPED
            assert [source for _, source in chain(image)][1:3] == ["perf-map"] * 2
            frames = image.backtrace(0).frames
            inner = next(frame for frame in frames if frame.function == "inner")
            assert inner.offset == 6
            assert inner.module is None
            assert image.warnings == []
        with path.open("a") as file:  # the image is opened anew: the map is read anew
            line = path.read_text().splitlines()[-1]
            file.write(line.replace("inner", "renamed") + "\n")
        with open_process(pid, search=NOWHERE) as image:
            assert names(image) == [name if name != "inner" else "renamed" for name in MAPPED]
        if os.geteuid() == 0:  # nobody else can give files away
            os.chown(path, 12345, 12345)
            with open_process(pid, search=NOWHERE) as image:
                assert "inner" not in names(image)
                assert any("belongs to user 12345" in each for each in image.warnings)


def test_no_map_no_names(tmp_path: Path) -> None:
    with stopped(build(tmp_path), tmp_path) as pid, open_process(pid, search=NOWHERE) as image:
        found = chain(image)
        assert [name for name, _ in found][-1] == "main"
        assert all(source not in ("perf-map", "jitdump") for _, source in found)


def test_jitdump_of_a_live_process(tmp_path: Path) -> None:
    program = build(tmp_path, "-DDUMP")
    with stopped(program, tmp_path) as pid, open_process(pid, search=NOWHERE) as image:
        assert names(image) == DUMPED
        frames = image.backtrace(0).frames
        lines = {f.function: (f.file, f.line) for f in frames}
        assert lines["outer"] == ("script.js", 8)
        assert lines["inner"] == ("script.js", 8)


def test_jitdump_goes_before_perf_map(tmp_path: Path) -> None:
    program = build(tmp_path, "-DDUMP", '-DMAP="/tmp"')
    live = perf_map_of_live(program, tmp_path)
    with live as (pid, _), open_process(pid, search=NOWHERE) as image:
        assert names(image) == DUMPED


def test_jitdump_beside_a_core(tmp_path: Path) -> None:
    core = crash(build(tmp_path, "-DDUMP", "-DCRASH"), tmp_path, dumped=0x7F).core
    with open_core(str(core), search=NOWHERE) as image:
        assert names(image) == DUMPED
    (dump,) = core.parent.glob("jit-*.dump")
    other = tmp_path / "elsewhere"
    other.mkdir()
    moved = Path(shutil.move(dump, other))
    with open_core(str(core), search=NOWHERE) as image:
        assert "inner" not in names(image)
    with open_core(str(core), search=Search(directories=[str(other)])) as image:
        assert names(image) == DUMPED
    data = moved.read_bytes()
    # Written again by another run: the code is another.
    moved.write_bytes(data.replace(b"\x55\x48\x89\xe5", b"\x90\x31\xc0\x90"))
    with open_core(str(core), search=Search(directories=[str(other)])) as image:
        assert "outer" in names(image)  # 7 of its 11 bytes are there
        assert "inner" in names(image)
    moved.write_bytes(
        data.replace(b"\x55\x48\x89\xe5\xff\xd7\x5d", b"\x90\x31\xc0\x90\x90\x90\x90")
    )
    with open_core(str(core), search=Search(directories=[str(other)])) as image:
        assert "outer" in names(image)
        assert "inner" not in names(image)
    moved.write_bytes(data[:20] + (1).to_bytes(4, "little") + data[24:])  # its process
    with open_core(str(core), search=Search(directories=[str(other)])) as image:
        assert "outer" not in names(image)
        assert any("is not the jitdump of process" in each for each in image.warnings)


def test_perf_map_of_a_core(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.mkdir()
    core = crash(build(tmp_path, f'-DMAP="{maps}"', "-DCRASH"), tmp_path).core
    (path,) = maps.iterdir()
    with open_core(str(core), search=NOWHERE) as image:
        assert "inner" not in names(image)
    with open_core(str(core), search=Search(directories=[str(maps)])) as image:
        assert names(image) == MAPPED
    beside = Path(shutil.copy(path, core.parent))
    with open_core(str(core), search=NOWHERE) as image:
        assert names(image) == MAPPED
    beside.unlink()
    by_chance = Path("/tmp") / path.name
    try:
        shutil.copy(path, by_chance)
        age = core.stat().st_mtime
        os.utime(by_chance, (age - 5, age - 5))
        with open_core(str(core), search=NOWHERE) as image:
            assert names(image) == MAPPED
        os.utime(by_chance, (age + 5, age + 5))  # of a later process with the same id
        with open_core(str(core), search=NOWHERE) as image:
            assert "inner" not in names(image)
        text = path.read_text()
        by_chance.write_text(
            text + "".join(f"{at:x} 10 f{at}\n" for at in range(0x1000, 0x3000, 16))
        )
        os.utime(by_chance, (age - 5, age - 5))  # of an earlier one
        with open_core(str(core), search=NOWHERE) as image:
            assert "inner" not in names(image)
            assert any("does not fit the memory of the core" in each for each in image.warnings)
    finally:
        by_chance.unlink()


def test_damaged_logs_do_no_harm(tmp_path: Path) -> None:
    """Whatever stands in them, the chain is found and nothing crashes."""
    program = build(tmp_path, '-DMAP="."', "-DDUMP", "-DCRASH")
    core = crash(program, tmp_path, dumped=0x7F).core
    chance = random.Random(4)
    for pattern in ("perf-*.map", "jit-*.dump"):
        (path,) = core.parent.glob(pattern)
        whole = path.read_bytes()
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 8)):
                at = chance.randrange(len(data))
                data[at : at + chance.randrange(3)] = chance.choice(
                    [b"\0", b"\xff" * 8, b"\n", b"f" * 30, b"", bytes([chance.randrange(256)])]
                )
            path.write_bytes(
                data[: chance.randrange(len(data) + 1)] if chance.randrange(2) else data
            )
            with open_core(str(core), search=NOWHERE) as image:
                assert names(image)[-1] == "main"
        path.unlink()
    os.mkfifo(core.parent / f"perf-{open_core(str(core)).native.pid}.map")
    with open_core(str(core), search=NOWHERE) as image:
        assert names(image)[-1] == "main"

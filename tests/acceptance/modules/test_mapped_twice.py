"""Files of which the first page is mapped twice, as code and as data, and what cores keep of them.

Linkers before 2018 made such files wherever code and data fit into one page, lld makes them still.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import run

import whocall as api
from acceptance.modules.module_crashes import (
    CHAIN,
    LIBRARY,
    PROGRAM,
    Crashed,
    answer,
    chain_of,
    compiled,
    modules,
    names,
    stripped,
)

OLD = "-Wl,-z,noseparate-code,-z,norelro,-z,max-page-size="
FORMS = {
    "old": f"{OLD}0x200000",
    "old, no build id": f"{OLD}0x200000,--build-id=none",
    "old, small pages, no build id": f"{OLD}0x1000,--build-id=none",
    "gold": "-fuse-ld=gold -Wl,-z,norelro,-z,max-page-size=0x200000",
    "gold, no build id": "-fuse-ld=gold -Wl,-z,norelro,--build-id=none",
    "lld": "-fuse-ld=lld -Wl,-z,norelro",
    "lld, no build id": "-fuse-ld=lld -Wl,--build-id=none",
}
FILTERS = {"data": 0x23, "headers": 0x33, "no data": 0x20, "all": 0x7F}


def _made(place: Path, flags: list[str]) -> Crashed:
    twins = place / "twins"
    shared = ["-shared", "-fPIC", "-fno-toplevel-reorder", "-Wl,-soname,libsteps.so", *flags]
    library = compiled(LIBRARY, twins / "libsteps.so", *shared)
    program = [f"-Wl,-rpath,{place}", "-no-pie", *flags]
    compiled(PROGRAM, twins / "prog", *program, with_files=[library])
    for name in ("prog", "libsteps.so"):
        stripped(twins / name, place / name)
    return Crashed(place, place / "none")


def _first_page_twice(file: Path) -> bool:
    """As readelf has it: a second segment begins in the file's first page."""
    rows = [line.split() for line in run(["readelf", "-lW", str(file)]).splitlines()]
    return sum(row[:1] == ["LOAD"] and int(row[1], 16) < 4096 for row in rows) > 1


@pytest.fixture(scope="module", params=FORMS.values(), ids=FORMS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    made = _made(tmp_path_factory.mktemp("twice"), request.param.split())
    assert _first_page_twice(made.library), "the linker laid the library out in another way"
    return made


@pytest.mark.parametrize("dumped", FILTERS.values(), ids=FILTERS)
def test_one_module_and_all_frames(files: Crashed, dumped: int, tmp_path: Path) -> None:
    core = crash(files.exe, files.directory, dumped=dumped).core
    with api.open_core(str(core)) as image:
        paths = [module.path for module in image.modules]
    assert len(paths) == len(set(paths)), paths
    found = modules(answer("modules", core))
    assert {found[name]["state"] for name in ("prog", "libsteps.so")} == {"found"}
    twins = ("--search", files.directory / "twins")
    hidden = [files.exe.rename(tmp_path / "prog"), files.library.rename(tmp_path / "libsteps.so")]
    try:
        if dumped & 1:  # the linker's list is in memory
            assert chain_of(names(answer("bt", core, *twins))) == CHAIN
        states = [module["state"] for module in answer("modules", core)["modules"]]
        assert "MISMATCH" not in states
    finally:
        for path in hidden:
            path.rename(files.directory / path.name)


def _context(registers: dict[str, int]) -> str:
    """CONTEXT of Windows for x86-64, which Breakpad writes on Linux too."""
    order = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi")
    order += (*(f"r{number}" for number in range(8, 16)), "rip")
    data = bytearray(1232)
    struct.pack_into("<I", data, 0x30, 0x10000B)
    struct.pack_into("<17Q", data, 0x78, *(registers[name] for name in order))
    return data.hex()


def _breakpads(core: Path, exe: Path, place: Path) -> Path:
    """As Breakpad's writer makes it: a row for each mapping that the program's file begins with."""
    with api.open_core(str(core)) as image:
        thread = image.threads[0]
        context, sp = _context(dict(thread.registers)), thread.sp
        stack = image.read(sp, 8192).hex()
        pages = [one for one in image.native.mappings if Path(one.path).parent == exe.parent]
    maps = "".join(
        f"      {one.begin:x}-{one.end:x} {one.permissions}p {one.offset:08x} 08:01 7 {one.path}\n"
        for one in pages
    )
    rows = "".join(
        f"""
      - Base of Image: {one.begin:#x}
        Size of Image: {one.end - one.begin:#x}
        Module Name: {one.path}
        CodeView Record: ''"""
        for one in pages
        if one.offset == 0
    )
    source = place.with_suffix(".yaml")
    source.write_text(f"""--- !minidump
Streams:
  - Type: SystemInfo
    Processor Arch: AMD64
    Platform ID: Linux
    CPU:
      Vendor ID: GenuineIntel
      Version Info: 0
      Feature Info: 0
  - Type: ThreadList
    Threads:
      - Thread Id: 7
        Context: {context}
        Stack:
          Start of Memory Range: {sp:#x}
          Content: {stack}
  - Type: ModuleList
    Modules: {rows}
  - Type: LinuxMaps
    Text: |
{maps}
...
""")
    run(["yaml2obj", str(source), "-o", str(place)])
    return place


def test_a_minidump_that_lists_it_twice(tmp_path: Path) -> None:
    made = _made(tmp_path / "program", FORMS["old"].split())
    core = crash(made.exe, made.directory, dumped=FILTERS["headers"]).core
    dump = _breakpads(core, made.exe, tmp_path / "twice.dmp")
    assert dump.read_bytes().count("prog\0".encode("utf-16-le")) == 2
    program, _ = answer("modules", dump)["modules"]
    assert program["state"] == "found" and program["begin"] == "0x400000"
    assert names(answer("bt", dump)) == names(answer("bt", core))

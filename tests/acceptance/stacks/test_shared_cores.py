"""Cores that other projects made: input that nobody here wrote, with chains known from its authors.

The folder lies beside the checkout and may be absent; then, and only then, these tests skip. The
program counters were read out with gdb and the files' own symbols and unwind tables.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from places.needs import OTHERS_CORES

import whocall
from acceptance.helpers import chains
from acceptance.helpers.chains import SHARED_CORES
from whocall import Backtrace, ProcessImage
from whocall.base.process_image import Walk

pytestmark = pytest.mark.needs(OTHERS_CORES)

DRGN, LLDB = SHARED_CORES / "drgn", SHARED_CORES / "lldb"
PAST_MAIN = Walk(past_main=True)


def _functions(trace: Backtrace) -> list[str | None]:
    return [frame.function for frame in chains.physical(trace)]


def _only_thread(image: ProcessImage) -> Backtrace:
    (trace,) = image.report(walk=PAST_MAIN).threads
    return trace


def _trace(core: Path, exe: Path | None, directories: Sequence[Path] = ()) -> Backtrace:
    with whocall.open_core(
        str(core),
        str(exe) if exe else "",
        search=whocall.Search(directories=[str(path) for path in directories]),
    ) as image:
        return _only_thread(image)


@pytest.mark.parametrize(
    ("name", "pcs"),
    [
        ("crashme_static", (0x4011AE, 0x4011C0, 0x4011CA, 0x4011F7, 0x40105F, 0x4014D0, 0x401082)),
        ("crashme_static_pie", (0x1462, 0x1474, 0x147E, 0x14AB, 0x107F, 0x1790, 0x10A2)),
    ],
)
def test_static_programs(name: str, pcs: Sequence[int]) -> None:
    trace = _trace(DRGN / f"{name}.core", DRGN / name)
    assert [frame.rva for frame in chains.physical(trace)] == list(pcs), chains.listing(trace)
    named = ["c", "b", "a", "crashme", "main", "libc_start_main_stage2", "_start"]
    assert _functions(trace) == named
    assert trace.stop.reason == "end-of-stack"


LIBRARY_CHAIN = ("c", "b", "a", "crashme", "main")
LIBRARY_RVAS = (0x10FC, 0x110E, 0x1118, 0x1145)
DYNAMIC = {
    "crashme": ("crashme", 0x401058, 0x401095),
    "crashme_pie": ("crashme_pie", 0x1068, 0x10A5),
    "crashme_pie_no_headers": ("crashme_pie", 0x1068, 0x10A5),
}
"""Core: (program, link address of the return into main, of the return into _start)."""


def _assert_chain(trace: Backtrace, core: str) -> None:
    """c <- b <- a <- crashme <- main <- libc's start <- _start.

    libc's file is not here: its frames have no names, and the one between the last that a row leads
    to and `_start` may be missing; nothing else may be there.
    """
    _, main, start = DYNAMIC[core]
    frames = chains.physical(trace)
    message = chains.listing(trace)
    assert [frame.function for frame in frames[:5]] == list(LIBRARY_CHAIN), message
    assert [frame.rva for frame in frames[:5]] == [*LIBRARY_RVAS, main], message
    libc, outermost = frames[5:-1], frames[-1]
    assert 1 <= len(libc) <= 2, message
    assert all(frame.module == "/usr/lib64/libc.so.6" for frame in libc), message
    assert all(frame.function is None for frame in libc), message
    assert (outermost.function, outermost.rva) == ("_start", start), message
    assert trace.stop.reason == "end-of-stack", message


@pytest.mark.parametrize("core", DYNAMIC)
def test_a_library_in_a_directory_of_the_user(core: str) -> None:
    """The core names a path that is not there."""
    _assert_chain(_trace(DRGN / f"{core}.core", DRGN / DYNAMIC[core][0], [DRGN]), core)


@pytest.mark.parametrize("core", ["crashme", "crashme_pie"])
def test_a_library_is_found_by_its_build_id(core: str, tmp_path: Path) -> None:
    """Under any name, by the build id that the core holds."""
    shutil.copy(DRGN / "crashme.so", tmp_path / "another-name")
    _assert_chain(_trace(DRGN / f"{core}.core", DRGN / DYNAMIC[core][0], [tmp_path]), core)


@pytest.mark.parametrize("core", ["crashme", "crashme_pie"])
def test_another_build_lends_nothing(core: str, tmp_path: Path) -> None:
    """A file of the right name with another build id gives neither names nor rows, but a word."""
    exe = shutil.copy(DRGN / DYNAMIC[core][0], tmp_path)  # the true library lies beside the other
    shutil.copy(DRGN / "crashme_static_pie", tmp_path / "crashme.so")
    with whocall.open_core(
        str(DRGN / f"{core}.core"),
        str(exe),
        search=whocall.Search(directories=[str(tmp_path)]),
    ) as image:
        trace = _only_thread(image)
        library = next(one for one in image.modules if one.path.endswith("/crashme.so"))
        said = [sentence for sentence in image.warnings if "crashme.so" in sentence]
    assert library.state in ("missing", "MISMATCH")
    assert said
    inside = [frame for frame in trace.frames if frame.module == library.path]
    assert inside
    assert {frame.function for frame in inside} == {None}


@pytest.mark.parametrize("core", DYNAMIC)
def test_without_the_library(core: str, tmp_path: Path) -> None:
    """What is in the program itself is found by a search: main as well as _start, nothing false."""
    exe, main, start = DYNAMIC[core]
    trace = _trace(DRGN / f"{core}.core", Path(shutil.copy(DRGN / exe, tmp_path)))
    true = {**dict.fromkeys(LIBRARY_RVAS, "crashme.so"), main: exe, start: exe}
    for frame in chains.physical(trace):
        module = Path(frame.module or "").name
        known = frame.rva is not None and true.get(frame.rva) == module
        assert known or module == "libc.so.6", chains.listing(trace)
    assert _functions(trace)[-1] == "_start"
    assert "main" in _functions(trace), chains.listing(trace)


@pytest.mark.parametrize(
    ("name", "true"),
    [
        ("linux-i386", {0x80480C5: "bar", 0x80480DF: "foo", 0x80480FF: "_start"}),
        ("linux-x86_64", {0x40011C: "bar", 0x400142: "foo", 0x40015F: "_start"}),
        ("altmain", {0x400124: "_start"}),
        ("linux-mipsel-gnuabio32", {0x400130: "bar", 0x40017C: "foo", 0x4001C4: "_start"}),
        # The core's header says nothing of n32.
        ("linux-mips64el-gnuabin32", {0x10000130: "bar", 0x1000017C: "foo", 0x100001C4: "_start"}),
        (
            "linux-mips64el-gnuabi64",
            {0x120000170: "bar", 0x1200001BC: "foo", 0x120000214: "_start"},
        ),
        # func1 ends the module with its call: the return address lies behind the last byte.
        ("noreturn/test", {0x8048057: "func2", 0x8048070: "func1", 0x8048066: "_start"}),
    ],
)
def test_programs_without_a_c_library(name: str, true: dict[int, str]) -> None:
    trace = _trace(LLDB / f"{name}.core", LLDB / f"{name}.out")
    assert chains.pcs(trace) == list(true), chains.listing(trace)
    assert _functions(trace) == list(true.values())
    assert trace.stop.reason == "end-of-stack"


@pytest.mark.parametrize("abi", ["mipsel-gnuabio32", "mips64el-gnuabin32", "mips64el-gnuabi64"])
def test_files_that_kernels_of_mips_list(abi: str) -> None:
    """In words of 8 bytes, whatever the program's are: the place of a file that is not given."""
    with whocall.open_core(str(LLDB / f"linux-{abi}.core")) as image:
        listed = [module.path for module in image.modules if module.is_executable]
    assert [Path(path).name for path in listed] == [f"linux-{abi}.out"]
    assert all(path.startswith("/home/") for path in listed)


@pytest.mark.parametrize(
    ("name", "pc"), [("linux-fpr_sse_i386", 0x8048140), ("linux-fpr_sse_x86_64", 0x400194)]
)
def test_cores_without_their_program(name: str, pc: int) -> None:
    """`_start` crashed; the cores hold no more of the program than its headers and stack."""
    trace = _trace(LLDB / f"{name}.core", None)
    assert chains.pcs(trace) == [pc], chains.listing(trace)


def test_a_frameless_main_whose_file_is_missing() -> None:
    """The link register leads into libc; what the frame pointer leads to called that in turn."""
    trace = _trace(SHARED_CORES / "elfutils/testfile_aarch64_core", None)
    found = [(frame.pc, frame.trust) for frame in chains.physical(trace)]
    assert found == [
        (0x400548, "context"),
        (0x7FB7390B38, "analysis"),
        (0x40040C, "frame-pointer"),
    ], chains.listing(trace)


def test_a_return_address_that_lost_its_low_byte() -> None:
    """libc's file is missing: nothing tells the true one, 0x7ff2e1ee7bf7."""
    trace = _trace(SHARED_CORES / "casr/core.test_canary", None)
    frames = {frame.pc: frame.trust for frame in chains.physical(trace)}
    assert 0x7FF2E1EE7B00 not in frames, chains.listing(trace)
    assert set(list(frames.values())[1:]) == {"scan"}, chains.listing(trace)


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("thread_crash/linux-i386", {5195: 0xF778EC99, 5193: 0x8048D1F, 5194: 0x8048D13}),
        ("thread_crash/linux-x86_64", {5250: 0x7FC29434A53F, 5222: 0x400CF2, 5249: 0x400CEC}),
        ("gcore/linux-i386", {5586: 0xF771CC99, 5588: 0x8048B20, 5589: 0x8048A94}),
        ("gcore/linux-x86_64", {5669: 0x7F644C39C9CD, 5671: 0x400CF2, 5672: 0x400E94}),
    ],
)
def test_cores_without_stacks(name: str, threads: dict[int, int]) -> None:
    """Only registers are left of these threads: one frame each, and the reason why no more."""
    with whocall.open_core(str(LLDB / f"{name}.core")) as image:
        report = image.report(walk=PAST_MAIN)
    assert {trace.lwp: chains.pcs(trace) for trace in report.threads} == {
        lwp: [pc] for lwp, pc in threads.items()
    }
    assert {trace.stop.reason for trace in report.threads} == {"unreadable"}

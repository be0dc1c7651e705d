"""PE files (.dll, .exe) in Linux processes, mapped as Wine maps them: frames through them by their
.pdata, their names, and what is said of them.

The files are clang's and lld's. What is true is the source: each function calls the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import run

import whocall as api
from acceptance.modules.module_crashes import answer, whocall
from whocall.base.process_image import Walk

HERE = Path(__file__).parent
CHAIN = ["deepest", "saving", "sized", "adding", "large", "varying", "library_step", "back",
         "library_entry", "calling", "main"]  # fmt: skip
OURS = {"back", "calling", "main"}
EXPORTED = {"library_step", "library_entry"}
BUILDS = [("msvc", "0"), ("msvc", "2"), ("gnu", "1"), ("gnu", "s")]
LINKED = 0x180000000
LOADINGS = {"in parts": ("512", LINKED), "mapped, elsewhere": ("4096", 0x7E0000000)}
FILTERS = {"default": 0x33, "all": 0x7F, "data alone": 0x23}


def library(
    place: Path, kind: str, level: str, *options: str, source: str = "", machine: str = "x86_64"
) -> Path:
    """A DLL with COFF symbols, if `options` do not say otherwise."""
    place.mkdir(parents=True, exist_ok=True)
    code, made = place / "library.obj", place / "steps.dll"
    own = place / "library.c"
    probes = [] if machine == "x86_64" else ["-mno-stack-arg-probe"]  # these lower esp by eax
    own.write_text(source + (HERE / "pe_library.c").read_text())
    flags = [
        "-ffreestanding",
        "-fasynchronous-unwind-tables",
        f"-O{level}",
        "-gdwarf-4",
        "-w",
        *probes,
    ]
    run(["clang", f"--target={machine}-pc-windows-{kind}", *flags, "-c", str(own), "-o", str(code)])
    fixed = ["/dll", "/noentry", "/nodefaultlib"]
    run(["lld-link", *fixed, *(options or ["/debug:symtab"]), str(code), f"/out:{made}"])
    return made


@dataclass(frozen=True)
class Loaded:
    """The DLL and the Linux program that loads it."""

    dll: Path
    exe: Path

    def core(self, dumped: int) -> Path:
        return crash(self.exe, self.exe.parent, dumped=dumped).core


def loaded(dll: Path, base: int, *flags: str) -> Loaded:
    exe = dll.parent / "prog"
    defined = [f'-DLIBRARY="{dll}"', f"-DBASE={base:#x}"]
    run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", *flags, *defined, "-o", str(exe),
         str(HERE / "pe_loader.c")])  # fmt: skip
    return Loaded(dll, exe)


Frames = list[tuple[str, str, int]]
"""Names, trusts, and pcs."""


def looked_at(core: Path, *directories: Path) -> tuple[Frames, str, int]:
    """The frames, and the state and the place of the DLL."""
    search = api.Search(directories=tuple(map(str, directories)))
    with api.open_core(str(core), search=search) as image:
        (dll,) = [one for one in image.modules if one.path.endswith("/steps.dll")]
        (thread,) = image.report(walk=Walk()).threads
        frames = [(one.function or "", str(one.trust), one.pc) for one in thread.frames]
        return frames, dll.state, dll.begin


def by_nm(dll: Path, place: int) -> str:
    """The last symbol of code at or before the place, counted from the file's beginning."""
    rows = [row.split() for row in run(["nm", str(dll)]).splitlines()]
    code = [(int(at, 16) - LINKED, name) for at, kind, name in rows if kind in "tT"]
    return max(row for row in code if row[0] <= place)[1]


@pytest.mark.parametrize(("kind", "level"), BUILDS, ids=[f"{k}-O{o}" for k, o in BUILDS])
@pytest.mark.parametrize("loading", LOADINGS)
def test_every_frame_by_tables(kind: str, level: str, loading: str, tmp_path: Path) -> None:
    alignment, base = LOADINGS[loading]
    dll = library(tmp_path, kind, level, "/debug:symtab", f"/filealign:{alignment}")
    made = loaded(dll, base)
    for dumped in FILTERS.values():
        frames, state, begin = looked_at(made.core(dumped))
        assert [name for name, _, _ in frames] == CHAIN
        # A leaf function has no table, as the format wants it: it leaves the stack alone.
        trusts = [trust for _, trust, _ in frames]
        assert trusts[0] == "context" and trusts[1] in ("cfi", "analysis", "call-entry")
        assert set(trusts[2:]) == {"cfi"}
        assert (state, begin) == ("found", base)
        assert [by_nm(dll, pc - base) for _, _, pc in frames if pc - base in range(1 << 20)] == [
            name for name in CHAIN if name not in OURS
        ]


@pytest.mark.parametrize("level", ["0", "2"])
def test_sections_with_gaps(level: str, tmp_path: Path) -> None:
    """As .NET's compiler for Linux makes files, telling so by the machine, and maps them."""
    parts = ("/debug:symtab", "/filealign:4096", "/align:65536")
    dll = library(tmp_path, "msvc", level, *parts)
    made = loaded(dll, 0x7E0000000, "-DGAPS")
    for_linux = bytearray(dll.read_bytes())
    machine = int.from_bytes(for_linux[0x3C:0x40], "little") + 4
    for_linux[machine : machine + 2] = (0x8664 ^ 0x7B79).to_bytes(2, "little")
    dll.write_bytes(for_linux)
    for dumped in FILTERS.values():
        frames, state, begin = looked_at(made.core(dumped))
        assert [name for name, _, _ in frames] == CHAIN
        assert {trust for _, trust, _ in frames[2:]} == {"cfi"}
        assert (state, begin) == ("found", 0x7E0000000)


@pytest.mark.parametrize("loading", LOADINGS)
def test_stripped(loading: str, tmp_path: Path) -> None:
    """The same frames; what is exported has its name, of the rest nothing is said."""
    alignment, base = LOADINGS[loading]
    options = ("/debug:none", f"/filealign:{alignment}")
    whole = loaded(library(tmp_path / "a", "msvc", "2", "/debug:symtab", *options[1:]), base)
    bare = loaded(library(tmp_path / "b", "msvc", "2", *options), base)
    wanted, *_ = looked_at(whole.core(FILTERS["default"]))
    found, *_ = looked_at(bare.core(FILTERS["default"]))
    assert [pc for *_, pc in found[:7]] == [pc for *_, pc in wanted[:7]]
    for (name, _, _), true in zip(found, CHAIN, strict=True):
        if true in OURS | EXPORTED:
            assert name == true
        else:
            assert name.startswith("sub_")


def test_the_file_is_gone(tmp_path: Path) -> None:
    """Memory has code and tables where the core holds them, and the exports' names."""
    made = loaded(library(tmp_path, "msvc", "2"), LOADINGS["in parts"][1])
    whole, part = made.core(FILTERS["all"]), tmp_path / "part.core"
    whole = whole.rename(tmp_path / "whole.core")
    made.core(FILTERS["data alone"]).rename(part)
    with_file, *_ = looked_at(whole)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    made.dll.rename(elsewhere / "steps.dll")
    found, state, _ = looked_at(whole)
    assert state == "in memory"
    assert [one[1:] for one in found] == [one[1:] for one in with_file]
    assert {name for name, *_ in found} >= EXPORTED | OURS
    # Where the headers are left out nothing can be told but the file's name.
    assert looked_at(part)[1] == "missing"
    assert f"No file was found for {made.dll}" in whocall("bt", part).stderr
    assert [name for name, *_ in looked_at(part, elsewhere)[0]] == CHAIN


@pytest.mark.parametrize("dumped", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("loading", LOADINGS)
def test_another_build_lends_nothing(loading: str, dumped: int, tmp_path: Path) -> None:
    """Where nothing of the file is in memory, its size and where its code lies decide."""
    alignment, base = LOADINGS[loading]
    options = ("/debug:symtab", f"/filealign:{alignment}")
    made = loaded(library(tmp_path / "a", "msvc", "2", *options), base)
    longer = 'int unused(int v) { __asm__ volatile(".skip 5000, 0x90"); return v; }\n'
    other = library(tmp_path / "b", "msvc", "2", *options, source=longer)
    core = made.core(dumped)
    made.dll.write_bytes(other.read_bytes())
    frames, state, _ = looked_at(core)
    assert state in ("MISMATCH", "in memory")
    assert not {name for name, *_ in frames} & (set(CHAIN) - OURS - EXPORTED)


def test_lines_of_dwarf_in_it(tmp_path: Path) -> None:
    """As mingw's compilers write it."""
    made = loaded(library(tmp_path, "gnu", "1", "/debug:dwarf"), 0x7E0000000)
    frames = answer("bt", made.core(FILTERS["default"]))["threads"][0]["frames"]
    assert [one["function"] for one in frames] == CHAIN
    source = (HERE / "pe_library.c").read_text().splitlines()
    for frame, name in zip(frames[:7], ["*p", "deepest(p)", "saving(p", "sized(p)", "adding(p",
                                        "large(p)", "varying(p"], strict=True):  # fmt: skip
        assert name in source[frame["source"]["line"] - 1]


HANDED = {"deepest": [0], "saving": [0, 0, 1, 1, 2, 3, 0], "sized": [0], "adding": [0, 3],
          "large": [0], "varying": [0, 100], "library_step": [0], "back": [0]}  # fmt: skip


@pytest.mark.parametrize(("kind", "level"), BUILDS, ids=[f"{k}-O{o}" for k, o in BUILDS])
def test_arguments_as_windows_hands_them_over(kind: str, level: str, tmp_path: Path) -> None:
    """In rcx, rdx, r8 and r9, then behind four words of the stack. `back` is such a function of a
    Linux file, which keeps rdi and rsi from one that is not."""
    made = loaded(library(tmp_path, kind, level, "/debug:symtab"), 0x7E0000000)
    known = 0
    for frame in answer("bt", made.core(FILTERS["default"]))["threads"][0]["frames"]:
        wanted = HANDED.get(frame["function"])
        if wanted is None or frame["arguments"] is None:
            continue
        values = [one["value"] and int(one["value"], 16) for one in frame["arguments"]]
        assert len(values) <= len(wanted), frame["function"]
        for value, right in zip(values, wanted, strict=False):
            assert value in (None, right), frame["function"]
        assert level != "0" or len(values) == len(wanted), frame["function"]
        known += len(values) - values.count(None)
    print(f"{known} of {sum(map(len, HANDED.values()))} values")
    assert known >= 8


@pytest.mark.parametrize("level", ["0", "2"])
def test_of_32_bits(level: str, tmp_path: Path) -> None:
    """These have no tables of frames: the code is analysed."""
    dll = library(tmp_path, "msvc", level, "/debug:symtab", "/safeseh:no", machine="i686")
    made = loaded(dll, 0x10000000, "-m32")
    frames, state, begin = looked_at(made.core(FILTERS["default"]))
    assert (state, begin) == ("found", 0x10000000)
    assert [name for name, _, _ in frames] == CHAIN
    assert "scan" not in {trust for _, trust, _ in frames}

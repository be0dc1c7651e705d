"""Where the files of a process are looked for, a test for each step of the order: below the
sysroot, at the path itself, in the user's directories by name and by build id, in the debug
directories, in memory. (test_debuginfod.py has the last step, test_search_live.py processes
that run.)

Names of local functions come from the unstripped twins, which stand in for the files: they tell
which file was taken.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.tools import run

from acceptance.modules.module_crashes import (
    CHAIN,
    IN_LIBRARY,
    LIBRARY,
    Crashed,
    answer,
    build_id,
    chain_of,
    crashed,
    library,
    modules,
    names,
    stripped,
    whocall,
)

WHOLE = 0x7F
"""A coredump_filter with which the core holds all pages of the mapped files."""

NT_FILE, NT_AUXV = 0x46494C45, 6


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    """A crash whose files are no longer where they were."""
    made = crashed(tmp_path_factory.mktemp("gone"))
    made.exe.unlink()
    made.library.unlink()
    return made


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another build of the library: its functions lie elsewhere."""
    moved = "int before(int v) { while (v > 9) v /= 3; return v; }\n" + LIBRARY
    return library(tmp_path_factory.mktemp("other") / "libsteps.so", moved)


@pytest.fixture
def put_back(gone: Crashed) -> Iterator[Crashed]:
    """Whatever a test puts at the old places is gone afterwards."""
    yield gone
    gone.exe.unlink(missing_ok=True)
    gone.library.unlink(missing_ok=True)


def taken(crash: Crashed, *options: str | Path) -> dict[str, tuple[str, str | None]]:
    """State and file of the program and the library."""
    found = modules(answer("modules", crash.core, *options))
    return {name: (found[name]["state"], found[name]["file"]) for name in ("prog", "libsteps.so")}


def local_names(crash: Crashed, *options: str | Path) -> tuple[str | None, ...]:
    return chain_of(names(answer("bt", crash.core, *options)))


def copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, target))


def below(root: Path, path: Path) -> Path:
    return root / str(path).lstrip("/")


def test_nothing_is_left(gone: Crashed) -> None:
    assert taken(gone) == {"prog": ("missing", None), "libsteps.so": ("missing", None)}
    assert not set(local_names(gone)) & set(CHAIN)
    said = whocall("bt", gone.core).stderr
    for file in ("prog", "libsteps.so"):
        assert build_id(gone.twin(file)) in said  # by which it can be found


def test_at_its_path(put_back: Crashed) -> None:
    for file in (put_back.exe, put_back.library):
        copy(put_back.twin(file.name), file)
    assert taken(put_back)["libsteps.so"] == ("found", str(put_back.library))
    assert local_names(put_back) == CHAIN


def test_below_the_sysroot(gone: Crashed, tmp_path: Path) -> None:
    for name in ("prog", "libsteps.so"):
        copy(gone.twin(name), below(tmp_path, gone.directory / name))
    assert taken(gone, "--sysroot", tmp_path)["prog"] == ("found", str(below(tmp_path, gone.exe)))
    assert local_names(gone, "--sysroot", tmp_path) == CHAIN


def test_the_sysroot_has_another_build(put_back: Crashed, other: Path, tmp_path: Path) -> None:
    copy(other, below(tmp_path, put_back.library))
    copy(put_back.twin("libsteps.so"), put_back.library)
    found = taken(put_back, "--sysroot", tmp_path)
    assert found["libsteps.so"] == ("found", str(put_back.library))
    assert local_names(put_back, "--sysroot", tmp_path)[:IN_LIBRARY] == CHAIN[:IN_LIBRARY]


def test_in_a_directory_by_name(gone: Crashed, tmp_path: Path) -> None:
    for name in ("prog", "libsteps.so"):
        copy(gone.twin(name), tmp_path / name)
    assert taken(gone, "--search", tmp_path)["prog"] == ("found", str(tmp_path / "prog"))
    assert local_names(gone, "--search", tmp_path) == CHAIN


def test_in_a_directory_by_path(gone: Crashed, tmp_path: Path) -> None:
    """As the machine's root directory was copied."""
    copy(gone.twin("libsteps.so"), below(tmp_path, gone.library))
    assert taken(gone, "--search", tmp_path)["libsteps.so"][0] == "found"


def test_in_a_directory_under_other_names(gone: Crashed, tmp_path: Path) -> None:
    """Only the build id tells; other programs lie beside them, and debug files of the same id."""
    copy(gone.twin("prog"), tmp_path / "release-17")
    copy(gone.twin("libsteps.so"), tmp_path / "steps.bak")
    for name in ("prog", "libsteps.so"):
        run(["objcopy", "--only-keep-debug", str(gone.twin(name)), str(tmp_path / f"a.{name}")])
    copy(Path("/bin/true"), tmp_path / "true")
    (tmp_path / "notes").write_text("no ELF file")
    assert taken(gone, "--search", tmp_path) == {
        "prog": ("found", str(tmp_path / "release-17")),
        "libsteps.so": ("found", str(tmp_path / "steps.bak")),
    }
    assert local_names(gone, "--search", tmp_path) == CHAIN


def test_the_first_directory_has_another_build(gone: Crashed, other: Path, tmp_path: Path) -> None:
    copy(other, tmp_path / "first" / "libsteps.so")
    copy(gone.twin("libsteps.so"), tmp_path / "second" / "libsteps.so")
    options = ("--search", tmp_path / "first", "--search", tmp_path / "second")
    assert taken(gone, *options)["libsteps.so"] == (
        "found",
        str(tmp_path / "second" / "libsteps.so"),
    )
    only = taken(gone, "--search", tmp_path / "first")["libsteps.so"]
    assert only == ("MISMATCH", str(tmp_path / "first" / "libsteps.so"))


def test_the_path_has_another_build_and_a_directory_the_right_one(
    put_back: Crashed, other: Path, tmp_path: Path
) -> None:
    copy(other, put_back.library)
    copy(put_back.twin("libsteps.so"), tmp_path / "renamed")
    found = taken(put_back, "--search", tmp_path)["libsteps.so"]
    assert found == ("found", str(tmp_path / "renamed"))


def test_in_a_debug_directory(gone: Crashed, tmp_path: Path) -> None:
    """The file itself, as some systems link it there, before the debug file of the same id."""
    twin = gone.twin("libsteps.so")
    wanted = build_id(twin)
    place = tmp_path / ".build-id" / wanted[:2] / wanted[2:]
    debug = place.with_suffix(".debug")
    place.parent.mkdir(parents=True)
    run(["objcopy", "--only-keep-debug", str(twin), str(debug)])
    only_names = taken(gone, "--debug-directory", tmp_path)["libsteps.so"]
    assert only_names == ("found", str(debug))
    assert "neither code nor unwind tables" in str(
        modules(answer("modules", gone.core, "--debug-directory", tmp_path))["libsteps.so"][
            "remedy"
        ]
    )
    stripped(twin, place)
    assert taken(gone, "--debug-directory", tmp_path)["libsteps.so"] == ("found", str(place))
    found = local_names(gone, "--debug-directory", tmp_path)
    assert found[:IN_LIBRARY] == CHAIN[:IN_LIBRARY]


def test_debug_info_in_a_directory_that_the_user_names(gone: Crashed, tmp_path: Path) -> None:
    twin = gone.twin("libsteps.so")
    stripped(twin, tmp_path / "libsteps.so")
    wanted = build_id(twin)
    debug = tmp_path / ".build-id" / wanted[:2] / f"{wanted[2:]}.debug"
    debug.parent.mkdir(parents=True)
    run(["objcopy", "--only-keep-debug", str(twin), str(debug)])
    assert local_names(gone, "--search", tmp_path)[:IN_LIBRARY] == CHAIN[:IN_LIBRARY]
    found = modules(answer("modules", gone.core, "--search", tmp_path))["libsteps.so"]
    assert found["debug_file"] == str(debug)


def without_notes(core: Path, path: Path, *types: int) -> Path:
    """The core, certain notes of which have a type that means nothing."""
    contents = core.read_bytes()
    for each in types:
        header = struct.pack("<I", each) + b"CORE\0\0\0\0"
        assert contents.count(header) == 1
        contents = contents.replace(header, struct.pack("<I", 0x7FFF0000) + b"CORE\0\0\0\0")
    path.write_bytes(contents)
    return path


@pytest.mark.parametrize("lost", [(), (NT_FILE,), (NT_FILE, NT_AUXV)], ids=str)
def test_a_core_finds_its_program_by_its_notes(
    lost: tuple[int, ...], put_back: Crashed, tmp_path: Path
) -> None:
    """By NT_FILE, by AT_EXECFN, or by the words of its command line."""
    for file in (put_back.exe, put_back.library):
        copy(put_back.twin(file.name), file)
    bare = Crashed(put_back.directory, without_notes(put_back.core, tmp_path / "core", *lost))
    assert local_names(bare) == CHAIN
    document = answer("modules", bare.core)
    assert document["source"]["exe"] == str(put_back.exe)
    main = [module["path"] for module in document["modules"] if module["is_executable"]]
    assert main == [str(put_back.exe)]


def test_without_notes_the_build_id_still_judges(
    put_back: Crashed, other: Path, tmp_path: Path
) -> None:
    copy(put_back.twin("prog"), put_back.exe)
    copy(other, put_back.library)
    bare = Crashed(put_back.directory, without_notes(put_back.core, tmp_path / "core", NT_FILE))
    assert taken(bare)["libsteps.so"][0] == "MISMATCH"
    copy(put_back.twin("libsteps.so"), put_back.library)
    assert taken(bare)["libsteps.so"][0] == "found"


def test_pages_in_the_core_stand_in_for_files(tmp_path: Path) -> None:
    """The core holds the files' pages, so what linking needs is there: exported names, the unwind
    tables, the code. By default it holds their first pages only, with the build id.
    """
    made = crashed(tmp_path, WHOLE)
    made.exe.unlink()
    made.library.unlink()
    found = modules(answer("modules", made.core))
    assert found["libsteps.so"]["state"] == "in memory"
    exported = {each.name for each in nm_table.symbols(made.twin("libsteps.so"), dynamic=True)}
    ours = names(answer("bt", made.core))
    wanted = [name if name in exported else None for name in CHAIN[:IN_LIBRARY]]
    shown = [None if (name or "").startswith("sub_") else name for name in ours[:IN_LIBRARY]]
    assert shown == wanted
    assert [name for name in shown if name]
    assert found["libsteps.so"]["symbol_sources"]["dynsym"] >= len(exported & set(CHAIN))
    assert found["libsteps.so"]["cfi_bytes"]
    assert "stands in for it" in found["libsteps.so"]["remedy"]


def test_a_debug_file_lends_its_names_to_pages_in_the_core(tmp_path: Path) -> None:
    made = crashed(tmp_path, WHOLE)
    made.library.unlink()
    twin = made.twin("libsteps.so")
    wanted = build_id(twin)
    debug = tmp_path / "debug" / ".build-id" / wanted[:2] / f"{wanted[2:]}.debug"
    debug.parent.mkdir(parents=True)
    run(["objcopy", "--only-keep-debug", str(twin), str(debug)])
    found = modules(answer("modules", made.core, "--debug-directory", tmp_path / "debug"))
    assert found["libsteps.so"]["state"] == "in memory"
    assert found["libsteps.so"]["debug_file"] == str(debug)
    assert found["libsteps.so"]["cfi_bytes"]
    shown = local_names(made, "--debug-directory", tmp_path / "debug")
    assert shown[:IN_LIBRARY] == CHAIN[:IN_LIBRARY]

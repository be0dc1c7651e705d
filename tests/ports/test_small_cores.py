"""Small cores of other instruction sets, whose cores name no files: the linker's list does."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.inputs.test_shrunk_cores import frames

import whocall
from ports.test_missing_library import FLAGS, built_with_library
from whocall.base.file_search import Search
from whocall.cli.commands.shrink import ask_everything, walk
from whocall.inputs.shrinking import shrink


def _files(core: Path, exe: Path, search: Search) -> list[str]:
    with whocall.open_core(str(core), str(exe), search=search) as image:
        return [module.path for module in image.modules]


@pytest.mark.parametrize("private", [False, True], ids=["plain", "private"])
@pytest.mark.parametrize("with_files", [False, True], ids=["no libraries", "libraries"])
@pytest.mark.parametrize("name", ["aarch64", "mips", "mipsel", "mips64el"])
def test_the_list_of_files_stays(
    name: str, with_files: bool, private: bool, tmp_path: Path
) -> None:
    """Nobody stands in the linker, which has it; on MIPS a word of the program leads there."""
    built = built_with_library(name, FLAGS[0], tmp_path)
    core, small = built.crash(2), tmp_path / "small"
    search = Search(sysroot=built.of.sysroot) if with_files else Search()
    with small.open("wb") as out:
        ask = walk if private else ask_everything
        made = shrink(str(core), str(built.exe), search, ask, out, private)
    assert with_files or private or made.changed == 0
    used = {path for path in _files(core, built.exe, search) if "ld" not in Path(path).name}
    assert used <= {*_files(small, built.exe, search)}
    assert private or frames(small, built.exe) == frames(core, built.exe)

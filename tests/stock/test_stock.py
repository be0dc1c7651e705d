"""The stock programs and shapes keep their promises: depth known, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles import gdb_bt

from stock import deep_core, many_threads_core, stock_programs
from stock.procfs import wait_for
from stock.shapes import OWN_FRAMES


def test_the_catalogue_names_are_unique() -> None:
    names = [program.name for program in stock_programs()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["bash", "git-log"])
def test_nothing_is_left_behind(name: str, tmp_path: Path) -> None:
    (program,) = (program for program in stock_programs() if program.name == name)
    with pytest.raises(KeyError), program.running(tmp_path) as pid:
        group = _group(Path(f"/proc/{pid}/stat"))
        assert pid in _members(group)
        raise KeyError
    wait_for(lambda: not _members(group), "end of the whole group", patience=5)


def _group(stat: Path) -> int:
    return int(stat.read_text().rpartition(")")[2].split()[2])


def _members(group: int) -> list[int]:
    """The processes of a group that are not just waiting for init to reap them."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[2]) == group and words[0] not in "ZX":
            found.append(int(entry.name))
    return found


def test_many_threads_are_exactly_as_deep_as_said(tmp_path: Path) -> None:
    made = many_threads_core(tmp_path, 5)
    stacks = gdb_bt.of_core(made.core, made.build.twin)
    own = {"innermost", "odd_level", "even_level", "thread_main"}
    workers = [
        [frame.name for frame in thread.frames if frame.name in own] for thread in stacks.values()
    ]
    levels = ["odd_level", "even_level"] * ((OWN_FRAMES - 2) // 2)
    assert sorted(workers) == [[], *[["innermost", *levels, "thread_main"]] * 5]


def test_deep_recursion_is_exactly_as_deep_as_said(tmp_path: Path) -> None:
    made = deep_core(tmp_path, 1001)
    names = [
        [frame.name for frame in thread.frames]
        for thread in gdb_bt.of_core(made.core, made.build.twin).values()
    ]
    (crashed,) = (thread for thread in names if "innermost" in thread)
    assert crashed.count("wide_level") == 501
    assert crashed.count("narrow_level") == 500

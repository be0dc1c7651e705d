"""Which core gdb reads, and which of its threads are which, where gdb's words for it are askew."""

from __future__ import annotations

import json
import shutil
import struct
from ast import literal_eval
from pathlib import Path

import pytest
from answers import checked
from programs import Crash
from sessions import batch

Numbered = tuple[int, int]  # gdb's number, LWP
BT, ALL = "whocall bt -json 1", "whocall bt -all -json 1"
NT_PRSTATUS = 1
LWP_AT = 32  # in struct elf_prstatus of x86-64


@pytest.mark.parametrize("letter", ["e", "é", "漢"])
def test_cores_of_paths_that_are_not_ascii(letter: str, chain: Crash, tmp_path: Path) -> None:
    """gdb pads columns by bytes: the core's cell is as many characters further left as the
    program's path has bytes more. Here the cut falls behind the blank in the core's own path.
    """
    core = tmp_path / "a core"
    ahead = len(str(core)) - len("core")
    more = len(letter.encode()) - 1
    odd = letter * (ahead // more) + "é" * (ahead % more) if more else "x"
    folder = tmp_path.joinpath(*(odd[at : at + 40] for at in range(0, len(odd), 40)))
    folder.mkdir(parents=True)
    exe = shutil.copy(chain.exe, folder / "prog")
    shutil.copy(chain.core, core)
    said = batch(["echo {json}\\n", BT], [exe, core])
    assert said.status == 0, said.err
    assert checked(said.out.split("{json}\n")[1])["source"]["core"] == str(core)


def _thread_notes(core: bytes) -> list[int]:
    """Where the contents of the threads' register notes begin."""
    segments, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    found = []
    for at in range(segments, segments + 56 * count, 56):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", core, at)
        note = offset
        while kind == 4 and note + 12 <= offset + size:  # PT_NOTE
            name, length, what = struct.unpack_from("<III", core, note)
            contents = note + 12 + (name + 3) // 4 * 4
            if what == NT_PRSTATUS and core[note + 12 : note + 16] == b"CORE":
                found.append(contents)
            note = contents + (length + 3) // 4 * 4
    return found


def _numbers(crash: Crash, core: Path, position: int) -> tuple[set[Numbered], set[Numbered]]:
    """Of our threads, with that of gdb's at `position` selected, and of gdb's."""
    said = batch(
        ["python each = sorted(gdb.selected_inferior().threads(), key=lambda one: one.num)",
         f"python each[{position}].switch()", "echo {json}\\n", ALL, "echo {gdb}\\n",
         "python print([(one.num, one.ptid[1]) for one in each])"],
        [crash.exe, core],
    )  # fmt: skip
    assert said.status == 0, said.err
    ours, gdbs = said.out.split("{json}\n")[1].split("{gdb}\n")
    threads = json.loads(ours)["threads"]
    return {(one["number"], one["lwp"]) for one in threads}, set(literal_eval(gdbs))


def test_a_thread_that_only_gdb_counts(workers: Crash, tmp_path: Path) -> None:
    """gdb takes a note of any owner for a thread's; behind it its numbers are not ours."""
    data = bytearray(workers.core.read_bytes())
    owner = data.rindex(b"CORE", 0, _thread_notes(data)[1])
    data[owner : owner + 4] = b"CORX"
    core = tmp_path / "core"
    core.write_bytes(data)
    ours, gdbs = _numbers(workers, core, 2)
    assert len(gdbs) == 4
    assert ours == {(number, lwp) for number, lwp in gdbs if number != 2}


def test_two_threads_of_one_lwp(workers: Crash, tmp_path: Path) -> None:
    """gdb forgets the one when it comes to the other, whose number is the next."""
    data = bytearray(workers.core.read_bytes())
    one, other = (at + LWP_AT for at in _thread_notes(data)[1:3])
    (hidden,) = struct.unpack_from("<I", data, other)
    data[other : other + 4] = data[one : one + 4]
    core = tmp_path / "core"
    core.write_bytes(data)
    ours, gdbs = _numbers(workers, core, 0)
    assert ours == {(number, lwp) for number, lwp in gdbs if lwp != hidden}
    assert len(ours) == 3

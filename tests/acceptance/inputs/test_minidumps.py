"""Minidumps of Crashpad's own handler, of lldb's writer, and of ARM and AArch64 by yaml2obj."""

from __future__ import annotations

import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from corpus.crash import ENVIRONMENT, set_limits
from places.needs import OWN_CORES

import whocall
from acceptance.helpers.front_ends import WHOCALL
from acceptance.inputs.crashes import Chains, Crash, chains, crash, ran
from acceptance.inputs.written_minidumps import FORMS, write
from whocall.base.errors import Error
from whocall.base.native_module import native
from whocall.dumps import sparse
from whocall.dumps.minidump_core import Converter

CHAIN = """
__attribute__((noinline)) int last(volatile int *p) { return *p + 2; }
__attribute__((noinline)) int calling(int *p) { return last(p) + 1; }
void _start(void) { calling(0); for (;;); }
"""


def test_crashpads_minidump_has_the_frames_of_the_core(plain: Crash, true_chains: Chains) -> None:
    assert plain.minidump.stat().st_size < 100_000
    assert chains(plain.minidump) == true_chains
    with whocall.open_core(str(plain.minidump)) as image:
        assert [thread.name for thread in image.threads] == ["crashing", "waiter"]
        assert image.threads[0].crashed and image.threads[0].signal == 11
        assert image.origin["writer"] == "Crashpad" and image.origin["exe"] == str(plain.exe)
        assert [line for line in image.warnings if "is a minidump with" in line]


def test_of_a_program_of_32_bits() -> None:
    small = crash("inputs32", "-m32 -O1 -g -fomit-frame-pointer")
    wanted, found = chains(small.core), chains(small.minidump)
    assert found[0] == wanted[0]
    # The waiting thread stands in the vDSO, which no minidump holds and no file has.
    assert [pc for pc, _ in found[1]] == [pc for pc, _ in wanted[1]]
    said = subprocess.run(
        [sys.executable, WHOCALL, "bt", "--all", small.minidump], capture_output=True, check=True
    )
    assert b"[vdso]" in said.stdout
    assert b"No file was found for [vdso]" in said.stderr


def test_memory_may_stand_in_the_list_of_wide_addresses(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    """As full minidumps have it: MINIDUMP_MEMORY64_LIST, and no stack in the threads' rows."""
    data = bytearray(plain.minidump.read_bytes())
    count, directory = struct.unpack_from("<II", data, 8)
    rows = {struct.unpack_from("<I", data, directory + 12 * at)[0]: directory + 12 * at
            for at in range(count)}  # fmt: skip
    pieces = []
    (threads,) = struct.unpack_from("<I", data, rows[3] + 8)
    for at in range(struct.unpack_from("<I", data, threads)[0]):
        row = threads + 4 + 48 * at
        address, size, place = struct.unpack_from("<QII", data, row + 24)
        pieces.append((address, bytes(data[place : place + size])))
        data[row + 24 : row + 40] = bytes(16)
    start = len(data) + 16 + 16 * len(pieces)
    table = struct.pack("<QQ", len(pieces), start)
    table += b"".join(struct.pack("<QQ", address, len(part)) for address, part in pieces)
    struct.pack_into("<III", data, rows[5], 9, len(table), len(data))
    path = tmp_path / "full.dmp"
    path.write_bytes(bytes(data) + table + b"".join(part for _, part in pieces))
    assert chains(path) == true_chains


def test_of_a_static_program_that_crashpad_lists_no_modules_of() -> None:
    static = crash("inputs-static", "-O1 -g -static -no-pie -fomit-frame-pointer")
    wanted = chains(static.core, str(static.exe))
    assert [name for _, name in wanted[0]][:2] == ["innermost", "comparing"]
    assert chains(static.minidump, str(static.exe)) == wanted
    with whocall.open_core(str(static.minidump)) as image:
        assert any("lists no modules" in line for line in image.warnings)


def test_a_file_of_another_build_is_refused(plain: Crash, tmp_path: Path) -> None:
    data = bytearray(plain.minidump.read_bytes())
    data[data.index(b"LEpB") + 4] ^= 1  # of the program's build id: the first module's
    path = tmp_path / "other.dmp"
    path.write_bytes(data)
    with whocall.open_core(str(path)) as image:
        (program,) = [module for module in image.modules if module.is_executable]
        assert (program.path, program.state) == (str(plain.exe), "MISMATCH")
        assert image.backtrace(0).frames[0].function is None


def test_files_are_found_by_build_id(plain: Crash, true_chains: Chains, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    shutil.copy(plain.exe, shelf / "of another name")
    moved = tmp_path / "moved.dmp"
    was, now = (text.encode("utf-16-le") for text in ("crashing", "missing_"))
    moved.write_bytes(plain.minidump.read_bytes().replace(was, now))
    assert chains(moved)[0] != true_chains[0]
    assert chains(moved, directories=[str(shelf)]) == true_chains


# lldb's own form says of inlined calls, and not of all, that they are; they share a stack pointer.
FRAME = "frame #${frame.index}: ${frame.pc} on ${frame.sp}{${frame.is-artificial} [artificial]}\\n"


def lldbs_chains(said: str) -> list[list[int]]:
    """By thread; of a frame with inlined calls, which come first, the first line has the pc.

    Frames that were left by a jump are no part of the stack: lldb reasons that they must have been.
    """
    found = []
    for thread in re.split(r"thread #\d", said)[1:]:
        lines = re.findall(r"frame #\d+: (0x[0-9a-f]+) on (0x[0-9a-f]+)(.*)", thread)
        pcs: dict[str, int] = {}
        for pc, sp, rest in lines:
            if "[artificial]" not in rest:
                pcs.setdefault(sp, int(pc, 16))
        found.append([*pcs.values()])
    return found


AS_IT_IS = "settings set target.disable-aslr false"  # not every place allows that


def test_lldbs_minidump_has_the_frames_that_lldb_has(plain: Crash, tmp_path: Path) -> None:
    place = tmp_path / "lldb.dmp"
    save = f"process save-core --plugin-name=minidump --style=stack {place}"
    said = ran(
        [
            "lldb",
            "-b",
            "-O",
            AS_IT_IS,
            "-O",
            f'settings set frame-format "{FRAME}"',
            "-o",
            "run",
            "-k",
            save,
            "-k",
            "bt all",
            "-k",
            "kill",
            plain.exe,
        ],
        env={**ENVIRONMENT, "HOME": str(tmp_path)},
    )
    wanted = lldbs_chains(said.rpartition("bt all")[2])
    assert len(wanted) == 2
    assert [[pc for pc, _ in chain] for chain in chains(place)] == wanted


@pytest.mark.needs(OWN_CORES)
@pytest.mark.parametrize("form", FORMS)
def test_of_other_instruction_sets(form: str, tmp_path: Path) -> None:
    triple, qemu = ("arm-linux-gnueabihf", "qemu-arm") if form == "arm" else ("aarch64-linux-gnu",
                    "qemu-aarch64")  # fmt: skip
    source, exe = tmp_path / "chain.c", tmp_path / "chain"
    source.write_text(CHAIN)
    ran([f"{triple}-gcc", "-O1", "-g", "-static", "-nostdlib", "-Wl,--build-id", "-o", exe, source])
    subprocess.run(
        [qemu, exe], cwd=tmp_path, env=ENVIRONMENT, preexec_fn=set_limits, check=False,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    (core,) = tmp_path.glob("qemu_*.core")
    wanted = chains(core, str(exe))
    assert [name for _, name in wanted[0]] == ["last", "calling", "_start"]
    assert chains(write(core, exe, form, tmp_path / "made.dmp")) == wanted


def test_one_that_is_cut_while_it_is_open(plain: Crash, tmp_path: Path) -> None:
    """Its memory is read where it lies: it ends nothing, and is told."""
    path = tmp_path / "cut.dmp"
    shutil.copy(plain.minidump, path)
    before, _ = native.cut_files()
    with whocall.open_core(str(path)) as image:
        os.truncate(path, 100)
        assert image.report().threads
        assert native.cut_files() == (before + 1, str(path))
    shutil.copy(plain.minidump, path)
    with path.open("r+b") as file, sparse.temporary() as core:
        converter = Converter(file, str(path))
        os.truncate(path, 100)
        with pytest.raises(Error, match="became shorter while it was read"):
            converter.write(core)


def test_damage_is_one_sentence(plain: Crash, tmp_path: Path) -> None:
    """Whatever a byte says, there is a backtrace or an error of ours."""
    whole = plain.minidump.read_bytes()
    chooser = random.Random(17)
    path = tmp_path / "damaged.dmp"
    refused = 0
    for number in range(300):
        data = bytearray(whole)
        if number % 3 == 0:
            del data[chooser.randrange(4, len(data)) :]
        for _ in range(chooser.randrange(1, 9)):
            place = chooser.randrange(4, 0x1800 if chooser.random() < 0.8 else len(whole))
            if place < len(data):
                data[place] = chooser.choice((0, 1, 0x7F, 0x80, 0xFF, data[place] ^ 4))
        path.write_bytes(data)
        try:
            with whocall.open_core(str(path)) as image:
                image.report()
        except Error as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert 0 < refused < 300


def test_other_systems_are_told(plain: Crash, tmp_path: Path) -> None:
    path = tmp_path / "windows.dmp"
    data = bytearray(plain.minidump.read_bytes())
    place = data.index((0x8201).to_bytes(4, "little"))
    data[place : place + 4] = (2).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(Error, match="a minidump of Windows: only those of Linux and Android"):
        whocall.open_core(str(path))

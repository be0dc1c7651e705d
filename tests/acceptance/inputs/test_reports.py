"""Crash reports of apport and problem directories of ABRT.

Neither tool is in the distribution. The files are written here as the two do: apport's as one
stream of gzip of which each block is a line of base64 (since 2023 also all of a zstd stream in one
line), ABRT's as a directory with a file for each field.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import whocall
from acceptance.helpers.front_ends import WHOCALL
from acceptance.inputs.crashes import Chains, Crash, chains, ran
from whocall.base.errors import Error

HEAD = """ProblemType: Crash
Architecture: amd64
Date: Tue Nov 24 07:00:00 2026
ExecutablePath: {exe}
ProcCmdline: {exe} --first --second
ProcStatus:
 Name:\tcrashing
 Umask:\t0022
Signal: 11
SignalName: SIGSEGV
Uname: Linux 6.8.0
"""


def gzipped(core: bytes) -> bytes:
    """Header, blocks of a megabyte, and the end with checksum and size: a line each."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, 0)
    lines = [b"\x1f\x8b\x08\x08\0\0\0\0\x02\xffCoreDump\0"]
    for at in range(0, len(core), 1 << 20):
        lines.append(packer.compress(core[at : at + (1 << 20)]))
    sums = zlib.crc32(core).to_bytes(4, "little") + len(core).to_bytes(4, "little")
    lines.append(packer.flush() + sums)
    return b"".join(b" " + base64.b64encode(line) + b"\n" for line in lines if line)


def zstandard(core: bytes) -> bytes:
    packed = subprocess.run(["zstd", "-q", "-c"], input=core, capture_output=True, check=True)
    return b" " + base64.b64encode(packed.stdout) + b"\n"


@pytest.mark.parametrize("pack", [gzipped, zstandard])
def test_apports_report_has_the_core(
    pack: object, plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    assert callable(pack)
    path = tmp_path / "_usr_bin_crashing.0.crash"
    head = HEAD.format(exe=plain.exe).encode() + b"CoreDump: base64\n"
    path.write_bytes(head + pack(plain.core.read_bytes()) + b"Tags: one two\n")
    assert chains(path) == true_chains
    said = ran([sys.executable, WHOCALL, "bt", path])
    assert said.startswith(f'{plain.exe}: SIGSEGV, Tue Nov 24 07:00:00 2026\n"{plain.exe}" was ')
    assert "\n#0 " in said
    origin = json.loads(ran([sys.executable, WHOCALL, "bt", "--json", path]))["source"]["origin"]
    assert origin["ProcStatus"] == "Name:\tcrashing\nUmask:\t0022"
    assert "Tags" not in origin  # it stands behind the core


def test_a_very_long_line_is_read_in_pieces(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    path = tmp_path / "long.crash"
    stored = subprocess.run(
        ["gzip", "-1", "-c"], input=plain.core.read_bytes() + bytes(range(256)) * 40000,
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    line = base64.b64encode(stored + b"")
    path.write_bytes(b"ProblemType: Crash\nCoreDump: base64\n " + line + b"\n")
    assert chains(path, str(plain.exe)) == true_chains


def test_a_report_that_was_cut_keeps_what_its_last_line_holds(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    """Which is all of it: the core is in one line, and what is missing ends a group of base64."""
    path = tmp_path / "cut.crash"
    line = zstandard(plain.core.read_bytes() + os.urandom(400_000)).rstrip(b"\n=")
    path.write_bytes(b"ProblemType: Crash\nCoreDump: base64\n" + line[: -5 - len(line) % 4])
    assert chains(path, str(plain.exe)) == true_chains
    with whocall.open_core(str(path)) as image:
        assert any("cannot be unpacked to its end" in line for line in image.warnings)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ProblemType: Package\nTitle: x\n", "holds no core dump: it is a report of type Package"),
        ("ProblemType: Crash\nCoreDump: base64\n !!!\n", "cannot be unpacked|holds no core"),
        ("ProblemType: Crash\nCoreDump: base64\n", "no core|empty"),
    ],
)
def test_a_report_without_a_core_is_told(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "report.crash"
    path.write_text(text)
    with pytest.raises(Error, match=complaint):
        whocall.open_core(str(path))


@pytest.mark.parametrize("name", ["coredump", "coredump.lz4"])
def test_abrts_directory_has_the_core(
    name: str, plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    problem = tmp_path / "ccpp-2026-11-24-07:00:00-4711"
    problem.mkdir()
    fields = {"type": "CCpp", "executable": str(plain.exe), "pid": "4711", "uid": "1000",
              "time": "1795503600", "hostname": "there", "reason": "crashing killed by SIGSEGV",
              "package": "crashing-1.0-1"}  # fmt: skip
    for field, value in fields.items():
        (problem / field).write_text(value)
    data = plain.core.read_bytes()
    if name.endswith("lz4"):
        packed = subprocess.run(["lz4", "-q", "-c"], input=data, capture_output=True, check=True)
        data = packed.stdout
    (problem / name).write_bytes(data)
    assert chains(problem) == true_chains
    said = ran([sys.executable, WHOCALL, "bt", problem]).splitlines()[0]
    assert said == (
        f"{plain.exe} (pid 4711), 2026-11-24 07:00:00 UTC, host there, package crashing-1.0-1"
    )
    (problem / name).unlink()
    with pytest.raises(Error, match="a problem of ABRT without a core dump"):
        whocall.open_core(str(problem))

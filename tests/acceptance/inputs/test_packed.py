"""Packed cores: told by content, unpacked in bounded memory into a file without a name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whocall
from acceptance.helpers.front_ends import WHOCALL
from acceptance.inputs.crashes import Chains, Crash, chains, ran, valid
from whocall.base.errors import Error

PACKERS = {
    "zstd": ["zstd", "-q", "-c"],
    "xz": ["xz", "-0", "-c"],
    "gzip": ["gzip", "-1", "-c"],
    "lz4": ["lz4", "-q", "-c"],
    "bzip2": ["bzip2", "-c"],
}


def packed(kind: str, source: Path, place: Path) -> Path:
    """By the program that users pack with; the name tells nothing."""
    with place.open("wb") as file:
        subprocess.run([*PACKERS[kind], source], stdout=file, check=True)
    return place


@pytest.mark.parametrize("kind", PACKERS)
def test_a_packed_core_is_the_core(
    kind: str, plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    assert chains(packed(kind, plain.core, tmp_path / "core")) == true_chains


def test_a_packed_minidump_is_the_minidump(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    """What was unpacked has no name, and is longer than the packed one, which nobody cut."""
    path = packed("gzip", plain.minidump, tmp_path / "crash")
    assert chains(path) == true_chains
    alone = ran([sys.executable, WHOCALL, "bt", plain.minidump])
    assert ran([sys.executable, WHOCALL, "bt", path]) == alone
    with path.open("rb") as file:
        piped = subprocess.run(
            [sys.executable, WHOCALL, "bt", "-"], stdin=file, capture_output=True, check=True
        )
    assert piped.stdout.decode() == alone


@pytest.mark.parametrize("kind", PACKERS)
def test_a_packed_core_is_found_in_a_directory(kind: str, plain: Crash, tmp_path: Path) -> None:
    """By what is in it, whatever it is called; what else is packed is passed over."""
    from whocall.triage.run import crashes_among

    found = packed(kind, plain.core, tmp_path / "x")
    text = tmp_path / "notes"
    text.write_text("no crash")
    packed(kind, text, tmp_path / "y")
    assert list(crashes_among([str(tmp_path)])) == [str(found)]


@pytest.mark.parametrize("kind", PACKERS)
def test_a_stream_that_ends_early_is_told_and_used(
    kind: str, plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    longer = tmp_path / "longer"
    longer.write_bytes(plain.core.read_bytes() + os.urandom(4 << 20))
    path = packed(kind, longer, tmp_path / "core")
    size = path.stat().st_size
    os.truncate(path, size * 99 // 100)
    assert chains(path) == true_chains
    with whocall.open_core(str(path)) as image:
        assert any("cannot be unpacked to its end" in line for line in image.warnings)
        assert all("/proc/" not in line for line in image.warnings)
    for rest in (size // 100, 40):  # gdb writes the registers last
        os.truncate(path, rest)
        with pytest.raises(Error, match=f"{path} cannot be unpacked"):
            whocall.open_core(str(path))


def test_frames_may_follow_each_other_and_be_packed_again(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    half = plain.core.stat().st_size // 2
    parts = [tmp_path / "one", tmp_path / "two"]
    data = plain.core.read_bytes()
    parts[0].write_bytes(data[:half])
    parts[1].write_bytes(data[half:])
    joined = tmp_path / "joined"
    with joined.open("wb") as file:
        for part in parts:
            file.write(packed("zstd", part, tmp_path / "packed").read_bytes())
    assert chains(packed("gzip", joined, tmp_path / "again")) == true_chains


@pytest.mark.parametrize("kind", PACKERS)
def test_damage_is_one_sentence(kind: str, plain: Crash, tmp_path: Path) -> None:
    path = packed(kind, plain.core, tmp_path / "core")
    data = bytearray(path.read_bytes())
    data[8:40] = bytes(range(160, 192))
    path.write_bytes(data)
    try:
        whocall.open_core(str(path)).close()
    except Error as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_what_holds_no_core_is_told(plain: Crash, tmp_path: Path) -> None:
    path = packed("xz", plain.exe, tmp_path / "program.xz")
    with pytest.raises(Error, match="holds no core: what is in it is a shared library or an exec"):
        whocall.open_core(str(path))


def test_a_bomb_meets_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.zst"
    head = b"\x7fELF\2\1\1" + bytes(9) + b"\4\0\x3e\0"
    with subprocess.Popen(["zstd", "-q", "-o", path], stdin=subprocess.PIPE) as zstd:
        assert zstd.stdin is not None
        zstd.stdin.write(head)
        for _ in range(64):
            zstd.stdin.write(bytes(1 << 20))
    monkeypatch.setenv("WHOCALL_UNPACK_LIMIT", "32M")
    with pytest.raises(Error, match="unpacks to more than 32 MiB.*WHOCALL_UNPACK_LIMIT"):
        whocall.open_core(str(path))


def test_zeros_are_holes_and_nothing_is_left_behind(plain: Crash, tmp_path: Path) -> None:
    hollow, made = tmp_path / "hollow", tmp_path / "made.core"
    shutil.copy(plain.core, hollow)
    os.truncate(hollow, 256 << 20)
    path = packed("zstd", hollow, tmp_path / "core.zst")
    place = tmp_path / "place"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    ran([sys.executable, WHOCALL, "unpack", path, "-o", made], env=environment)
    assert made.stat().st_size == 256 << 20
    said = ran([sys.executable, WHOCALL, "unpack", plain.minidump, "-o", made, "--json"])
    valid("unpacked", json.loads(said))
    ran([sys.executable, WHOCALL, "unpack", path, "-o", made], env=environment)
    assert made.stat().st_blocks * 512 <= plain.core.stat().st_size + (1 << 20)
    said = ran([sys.executable, WHOCALL, "bt", path], env=environment)
    assert "innermost" in said
    assert list(place.iterdir()) == []


def test_standard_input_and_several_cores(plain: Crash, tmp_path: Path) -> None:
    path = packed("lz4", plain.core, tmp_path / "core.lz4")
    alone = ran([sys.executable, WHOCALL, "bt", plain.core])
    with path.open("rb") as file:
        piped = subprocess.run(
            [sys.executable, WHOCALL, "bt", "-"], stdin=file, capture_output=True, check=True
        )
    assert piped.stdout.decode() == alone
    both = ran([sys.executable, WHOCALL, "bt", plain.core, path, plain.exe])
    assert both == f"{plain.core}:\n{alone}\n{path}:\n{alone}"
    nothing = subprocess.run(
        [sys.executable, WHOCALL, "bt", plain.core, plain.exe, tmp_path / "none"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert nothing.returncode == 2 and "these are no cores" in nothing.stderr

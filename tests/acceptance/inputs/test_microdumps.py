"""Breakpad's microdumps: a crash in the lines of a log."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from causes.programs import happened

import whocall
from acceptance.inputs.crashes import Chains, Crash, chains
from acceptance.inputs.made_minidumps import context_of
from whocall.base.errors import Error

LIBRARIES = ("/lib/x86_64-linux-gnu",)  # microdumps have names alone
_AROUND = ("07-01 12:00:00.000 I/ActivityManager(  812): something else: S 0", "")


def _identity(build_id: str) -> str:
    """As Breakpad prints the first 16 bytes: three numbers, the rest, and an age."""
    raw = bytes.fromhex(build_id)[:16].ljust(16, b"\0")
    return (raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]).hex().upper() + "0"


def _microdump(core: Path, reason: bool = True) -> list[str]:
    with whocall.open_core(str(core)) as image:
        thread = image.threads[image.index_of_crash()]
        stack = image.read(thread.sp, 1 << 15)
        told = thread.signal_info or (0, 0, 0)
        lines = ["-----BEGIN BREAKPAD MICRODUMP-----", "V prog:1", "O L x86_64 02 x86_64 6.1 #1"]
        lines += [f"R {thread.signal:08X} SIGSEGV {told[1] or 0:016X}"] if reason else []
        lines.append(f"S 0 {thread.sp:016X} {thread.sp:016X} {len(stack):016X}")
        for at in range(0, len(stack), 384):
            lines.append(f"S {thread.sp + at:016X} {stack[at : at + 384].hex().upper()}")
        lines.append(f"C {context_of(thread.registers).hex().upper()}")
        for module in sorted(image.modules, key=lambda module: not module.is_executable):
            size, name = module.end - module.begin, module.path.rpartition("/")[2]
            identity = _identity(module.build_id_in_memory or module.build_id_on_disk or "")
            lines.append(f"M {module.begin:016X} 0000000000000000 {size:016X} {identity} {name}")
    return [*lines, "-----END BREAKPAD MICRODUMP-----"]


def _log(lines: list[str], place: Path, pid: int = 4711) -> Path:
    noted = [f"07-01 12:00:00.001 F/google-breakpad({pid:5}): {line}" for line in lines]
    place.write_text("\r\n".join([noted[0], _AROUND[0], *noted[1:], *_AROUND]))
    return place


def test_the_frames_are_those_of_the_core(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    log = _log(_microdump(plain.core), tmp_path / "logcat.txt")
    shelves = [str(plain.exe.parent), *LIBRARIES]
    assert chains(log, directories=shelves) == [true_chains[0]]
    packed = tmp_path / "logcat.txt.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert chains(packed, directories=shelves) == [true_chains[0]]
    with whocall.open_core(str(log), search=whocall.Search(directories=shelves)) as image:
        assert image.native.pid == 4711
        assert image.threads[0].crashed and image.threads[0].signal == 11
        assert [line for line in image.warnings if "is a microdump with" in line]
        assert {module.state for module in image.modules if module.is_executable} == {"found"}


def test_its_cause_is_told_with_the_programs_file(plain: Crash, tmp_path: Path) -> None:
    log = _log(_microdump(plain.core), tmp_path / "logcat.txt")
    search = whocall.Search(directories=[str(plain.exe.parent), *LIBRARIES])
    wanted, found = happened(plain.core), happened(log, search)
    assert [fact["kind"] for fact in found["facts"]] == [fact["kind"] for fact in wanted["facts"]]
    assert "the dump gives" in found["facts"][0]["proof"]


def test_a_log_with_several_has_the_first_whole_one_read(
    plain: Crash, true_chains: Chains, tmp_path: Path
) -> None:
    lines = _microdump(plain.core)
    log = _log([*lines[-9:], *lines, *lines[:5]], tmp_path / "logcat.txt")
    with whocall.open_core(str(log)) as image:
        assert len(image.threads) == 1
        assert [line for line in image.warnings if "holds 1 more" in line]
    assert len(chains(log, directories=[str(plain.exe.parent), *LIBRARIES])[0]) == len(
        true_chains[0]
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("O L x86_64", "O L mips64"), "a processor that is not supported (mips64)"),
        (("C 0000", "X 0000"), "its registers (the line `C`) are cut off"),
        (("BEGIN BREAKPAD", "BEGUN BREAKPAD"), "but not its beginning; take the whole log"),
    ],
)
def test_what_cannot_be_read_is_told(
    plain: Crash, change: tuple[str, str], sentence: str, tmp_path: Path
) -> None:
    lines = [line.replace(*change) for line in _microdump(plain.core)]
    log = _log(lines, tmp_path / "logcat.txt")
    with pytest.raises(Error) as raised:
        whocall.open_core(str(log))
    assert sentence in str(raised.value)
    assert str(log) in str(raised.value)


def test_lines_that_a_log_has_cut_cost_their_part(plain: Crash, tmp_path: Path) -> None:
    lines = [line[:500] if line.startswith("S ") else line for line in _microdump(plain.core)]
    log = _log(lines, tmp_path / "logcat.txt")
    found = chains(log, directories=[str(plain.exe.parent), *LIBRARIES])
    assert [name for _, name in found[0]][:2] == [
        name for _, name in chains(plain.core)[0]
    ][:2]  # fmt: skip

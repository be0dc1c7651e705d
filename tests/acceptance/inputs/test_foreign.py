"""Inputs of other systems, and empty ones: refused in a sentence that names what they are."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from whocall.cli.main import main


def _core(system: int, *notes: tuple[str, int, int]) -> bytes:
    """An ELF core of x86-64: owner, type and size of each note."""
    body = b""
    for owner, kind, size in notes:
        name = owner.encode() + b"\0"
        body += struct.pack("<III", len(name), size, kind)
        body += name + bytes(-len(name) % 4) + bytes(size + -size % 4)
    head = b"\x7fELF" + bytes([2, 1, 1, system]) + bytes(8)
    head += struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(body), len(body), 4) + body


def _mach_o(order: str, kind: int, magic: int = 0xFEEDFACF) -> bytes:
    return struct.pack(f"{order}8I", magic, 0x01000007, 3, kind, 0, 0, 0, 0) + bytes(64)


def _minidump(system: int) -> bytes:
    """A header, and one stream: what system it is of, on x86-64."""
    head = struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, 1, 32, 0, 0, 0)
    info = struct.pack("<HHHBBIIIII", 9, 6, 0, 8, 1, 10, 0, 0, system, 0)
    return head + struct.pack("<III", 7, 56, 44) + info.ljust(56, b"\0")


INPUTS = {
    "FreeBSD": (_core(9, ("FreeBSD", 3, 120), ("FreeBSD", 1, 256)), "is a core of FreeBSD"),
    "NetBSD": (
        _core(0, ("NetBSD-CORE", 1, 160), ("NetBSD-CORE@1", 33, 208)),
        "is a core of NetBSD",
    ),
    "OpenBSD": (_core(0, ("OpenBSD", 10, 72), ("OpenBSD@1", 20, 208)), "is a core of OpenBSD"),
    "Mach-O core": (_mach_o("<", 4), "is a Mach-O core, as of macOS"),
    "Mach-O core of PowerPC": (_mach_o(">", 4, 0xFEEDFACE), "is a Mach-O core, as of macOS"),
    "Mach-O program": (_mach_o("<", 2), "is a Mach-O program of macOS"),
    "minidump of Windows": (_minidump(2), "is a minidump of Windows: only those of Linux and"),
    "minidump of macOS": (_minidump(0x8101), "is a minidump of macOS: only those of Linux and"),
    "Windows kernel": (b"PAGEDU64" + bytes(8192), "is a crash dump of a Windows kernel"),
    "empty": (b"", "is empty, as where there was no room to write it"),
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("command", ["bt", "report", "triage"])
def test_what_it_is_is_said(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents, sentence = INPUTS[name]
    path = tmp_path / "input"
    path.write_bytes(contents)
    status = main([command, str(path), *(["--json"] if command == "report" else [])])
    said = "".join(capsys.readouterr())
    if command == "triage":  # which lists what it could not read
        sentence = sentence.replace("is empty", "the file is empty")
    else:
        assert status == 1
    assert sentence in " ".join(said.split())
    assert str(path) in said

"""Bombs that are reports of crash reporters."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import core, status

MIB = 1 << 20


def _apport(folder: Path, *fields: bytes) -> list[Command]:
    path = folder / "report.crash"
    path.write_bytes(b"ProblemType: Crash\n" + b"".join(fields))
    return [["bt", str(path)], ["modules", str(path)]]


def _core(folder: Path) -> bytes:
    return core(status(1)).write(folder / "plain.core").read_bytes()


def _dump(packed: bytes) -> bytes:
    pieces = (packed[at : at + MIB] for at in range(0, len(packed), MIB))
    return b"CoreDump: base64\n" + b"".join(b" " + base64.b64encode(one) + b"\n" for one in pieces)


@bomb("report")
def fields_without_end(folder: Path) -> list[Command]:
    """A million fields before the core."""
    fields = b"".join(b"F%d: x\n" % at for at in range(1_000_000))
    return _apport(folder, fields, _dump(gzip.compress(_core(folder))))


@bomb("report")
def field_of_megabytes(folder: Path) -> list[Command]:
    """A field of one line of 64 MB, and one of a million lines."""
    return _apport(
        folder, b"A: " + b"x" * (64 * MIB) + b"\n", b"B:\n" + b" line\n" * 1_000_000,
        _dump(gzip.compress(_core(folder))),
    )  # fmt: skip


@bomb("report")
def dump_of_zeros(folder: Path) -> list[Command]:
    """A core with 1 GiB of zeros behind it."""
    packed = gzip.compress(_core(folder)) + gzip.compress(bytes(64 * MIB)) * 16
    return _apport(folder, _dump(packed))


@bomb("report")
def dump_of_empty_lines(folder: Path) -> list[Command]:
    """Two million lines without a byte of the core."""
    return _apport(folder, b"CoreDump: base64\n" + b" \n" * 2_000_000)


def _abrt(folder: Path, **files: bytes) -> list[Command]:
    problem = folder / "ccpp-1"
    problem.mkdir()
    (problem / "coredump").write_bytes(_core(folder))
    for name, contents in {"type": b"CCpp", "executable": b"/bin/true", **files}.items():
        (problem / name).write_bytes(contents)
    return [["bt", str(problem)], ["modules", str(problem)]]


@bomb("report")
def elements_of_megabytes(folder: Path) -> list[Command]:
    """An ABRT directory whose texts have 64 MB each."""
    text = b"x" * (64 * MIB)
    return _abrt(folder, cmdline=text, executable=text, time=b"9" * (64 * MIB), pid=text)


@bomb("report")
def elements_without_end(folder: Path) -> list[Command]:
    """An ABRT directory of 20,000 files."""
    return _abrt(folder, **{f"element{at}": b"x" for at in range(20_000)})

"""Writes what an input holds as a plain core, for debuggers and other tools."""

from __future__ import annotations

from typing import Any, BinaryIO

from whocall.base.file_search import Search
from whocall.base.records import dataclass
from whocall.base.regular_file import open_regular
from whocall.dumps.kinds import CORE, HEAD, elf_type, is_pipe


@dataclass(frozen=True)
class PlacedFile:
    """A file of the process: runtime address = link address + bias."""

    path: str
    bias: int


@dataclass(frozen=True)
class Unpacked:
    """What a debugger wants to know of the core that was written."""

    name: str  # of the input
    exe: str  # the program's file; empty when it was not found
    files: list[PlacedFile]  # of all modules whose files were found, the program's among them
    remarks: list[str]
    origin: dict[str, str]


def as_json(made: Unpacked) -> dict[str, Any]:
    """Schema whocall.unpacked/1."""
    return {
        "schema": "whocall.unpacked/1",
        "input": made.name,
        "exe": made.exe or None,
        "files": [{"path": file.path, "bias": hex(file.bias)} for file in made.files],
        "warnings": made.remarks,
        "origin": made.origin or None,
    }


def of_json(told: dict[str, Any]) -> Unpacked:
    """The same out of its JSON."""
    files = [PlacedFile(file["path"], int(file["bias"], 16)) for file in told["files"]]
    return Unpacked(told["input"], told["exe"] or "", files, told["warnings"], told["origin"] or {})


def is_plain(path: str) -> bool:
    """Whether it is a core as it stands; told without the native module, too."""
    if is_pipe(path):
        return False
    try:
        with open_regular(path) as file:
            return elf_type(file.read(HEAD)) == CORE
    except OSError:
        return False


def unpack(path: str, exe: str, search: Search, out: BinaryIO) -> Unpacked:
    """Writes the core to the empty file `out`; `exe` is the program, if it is known.

    A core that is made of a minidump says of each file that was found what of it was mapped where,
    so that debuggers read code and data of files as they do of a core of the kernel's. Raises
    Error.
    """
    from whocall.dumps.arrival import receive
    from whocall.inputs.opening import open_received

    arrived = receive(path, search.sysroot, into=out)
    with open_received(arrived, exe, search) as image:
        found = [module for module in image.modules if module.state == "found"]
        program = next((module.file_path for module in found if module.is_executable), "")
        places = {module.begin: module.file_path for module in found}
        unpacked = Unpacked(
            name=arrived.name,
            exe=exe or program,
            files=[PlacedFile(module.file_path, module.bias) for module in found],
            remarks=image.own_warnings,
            origin=dict(image.origin),
        )
    if arrived.converter is not None:
        arrived.converter.write(out, places)
    return unpacked

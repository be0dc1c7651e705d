"""A small program that crashed, with a hostile name in one field of its files.

The field's name is a placeholder that is replaced in place, byte by byte: by as much of the hostile
one as has room, and `x` behind it. Where a name is one of a file, the file is called so.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import Tool, kept, machine

PLACES = {
    "symbol": b"symbol_" + b"s" * 57,
    "source": b"source_" + b"f" * 55 + b".c",
    "section": b".sect_" + b"c" * 58,
    "message": b"message_" + b"m" * 56,
}
"""What stands in the built files for each field."""

_SOURCE = """
#include <assert.h>
#include <sys/prctl.h>
#line 7 "{source}"
__attribute__((noipa, section("{section}"))) void {symbol}(int n) {{
    assert(n > 5 && "{message}");
}}
int main(int c, char **v) {{
    prctl(PR_SET_NAME, "thread_ttttttt");
    {symbol}(c);
    return 0;
}}
"""
_THREAD = b"thread_ttttttt"
_FOLDER = "folder_" + "d" * 57
FIELDS = (*PLACES, "thread", "folder", "core name", "path in core")
_PLAIN = b"plainname"


@dataclass(frozen=True)
class Specimen:
    """The files; `true` is the name as it stands in them, of a field of so many bytes."""

    core: Path
    exe: Path
    field: str
    true: bytes


def _built(place: Path) -> dict[str, Path]:
    from causes.programs import compiled
    from corpus.crash import crash

    words = {field: name.decode() for field, name in PLACES.items()}
    exe = compiled(_SOURCE.format(**words), place / _FOLDER / "program", "-g", "-rdynamic")
    return {"exe": exe, "core": crash(exe, place / _FOLDER).core}


def built() -> dict[str, Path]:
    """The program and its core, made once on a machine."""
    recipe = ("hostile names", _SOURCE, repr(PLACES), _FOLDER, Tool("gcc"), machine())
    return kept(recipe, _built)


def fitting(name: bytes, room: int) -> bytes:
    """As much of the name as has room, and what fills that."""
    return name[:room].ljust(room, b"x")


def _file_name(name: bytes) -> str:
    import os

    return os.fsdecode(name[:200].replace(b"/", b"|"))


def _replaced(source: Path, target: Path, changes: Mapping[bytes, bytes]) -> None:
    data = source.read_bytes()
    for old, new in changes.items():
        assert old in data, old
        data = data.replace(old, new)
    target.write_bytes(data)
    shutil.copymode(source, target)


def specimen(place: Path, field: str, name: bytes) -> Specimen:
    """In the new folder `place`."""
    files = built()
    place.mkdir(parents=True)
    folder, core_name = place, "core"
    true, changes = name, {}
    if field in ("symbol", "source", "section", "message"):
        old = PLACES[field]
        true = fitting(name, len(old))
        changes = {old: true}
    elif field == "thread":
        true = fitting(name, len(_THREAD))
        changes = {_THREAD: true}
    elif field == "path in core":
        true = fitting(name.replace(b"/", b"|"), len(_FOLDER))
        changes = {_FOLDER.encode(): true}
    elif field == "folder":
        folder = place / _file_name(name)
        folder.mkdir()
        true = name[:200].replace(b"/", b"|")
    elif field == "core name":
        core_name = _file_name(name)
        true = name[:200].replace(b"/", b"|")
    exe, core = folder / "program", folder / core_name
    in_exe = {old: new for old, new in changes.items() if old in files["exe"].read_bytes()}
    in_core = {old: new for old, new in changes.items() if old in files["core"].read_bytes()}
    _replaced(files["exe"], exe, in_exe)
    _replaced(files["core"], core, in_core)
    return Specimen(core, exe, field, true)


def plain(name: bytes) -> bytes:
    """A harmless name of this length, of letters alone: what a form looks like otherwise."""
    return (_PLAIN * (len(name) // len(_PLAIN) + 1))[: len(name)]

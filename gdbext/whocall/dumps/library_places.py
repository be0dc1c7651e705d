"""Finds the files of libraries that a dump knows by name and build id alone.

Crashpad lists libraries by the names that they give themselves (`libc.so.6`). Those of the machine
itself lie where its dynamic linker looks; the build id tells whether they are the right ones.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence

from whocall.core.records import replace
from whocall.dumps.minidump import DumpModule

_FOLDERS = ("lib64", "usr/lib64", "lib", "usr/lib", "usr/local/lib", "system/lib64", "system/lib")
_SUFFIXES = ("-linux-gnu", "-linux-gnueabihf", "-linux-gnueabi")
_VDSO = ("linux-vdso", "linux-gate")
_PT_NOTE, _NT_BUILD_ID = 4, 3


def build_id_of(path: str) -> str:
    """Lower-case hex; empty for what is no ELF file with a build id. Little-endian files only."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:4] != b"\x7fELF" or head[5] != 1:
                return ""
            wide = head[4] == 2
            (start,) = struct.unpack_from("<Q" if wide else "<I", head, 32 if wide else 28)
            size, count = struct.unpack_from("<HH", head, 54 if wide else 42)
            file.seek(start)
            table = file.read(size * count)
            for at in range(0, len(table) - size + 1, size or 1):
                if int.from_bytes(table[at : at + 4], "little") != _PT_NOTE:
                    continue
                form, place = ("<Q16xQ", at + 8) if wide else ("<I8xI", at + 4)
                offset, length = struct.unpack_from(form, table, place)
                file.seek(offset)
                found = _build_id_in(file.read(min(length, 1 << 16)))
                if found:
                    return found
    except (OSError, struct.error, ValueError, OverflowError):
        return ""
    return ""


def _build_id_in(notes: bytes) -> str:
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        contents = at + 12 + (name + 3) // 4 * 4
        if kind == _NT_BUILD_ID and notes[at + 12 : at + 16] == b"GNU\0":
            return notes[contents : contents + size].hex()
        at = contents + (size + 3) // 4 * 4
    return ""


def _folders(sysroot: str) -> list[str]:
    root = sysroot or "/"
    found = [os.path.join(root, folder) for folder in _FOLDERS]
    for folder in ("lib", "usr/lib"):
        place = os.path.join(root, folder)
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        found += [os.path.join(place, name) for name in names if name.endswith(_SUFFIXES)]
    return found


def with_places(modules: Sequence[DumpModule], sysroot: str) -> list[DumpModule]:
    """The modules with paths, as the process would name them, where a bare name was told.

    A library is taken for found only where its build id is the one that was told.
    """
    bare = [module for module in modules if "/" not in module.path]
    if not bare:
        return list(modules)
    folders = _folders(sysroot)
    program = next((module.path for module in modules if "/" in module.path), "")
    if program:
        folders.insert(0, sysroot + os.path.dirname(program))
    result = []
    for module in modules:
        if module.path.startswith(_VDSO):
            module = replace(module, path="[vdso]")
        elif "/" not in module.path and module.build_id:
            places = (os.path.join(folder, module.path) for folder in folders)
            found = next((p for p in places if build_id_of(p) == module.build_id), "")
            if found:
                inside = found[len(sysroot) :] if sysroot else found
                module = replace(module, path=os.path.join("/", inside))
        result.append(module)
    return result

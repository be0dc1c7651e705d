"""Finds the files of libraries that a dump knows by name and build id alone.

Crashpad lists libraries by the names that they give themselves (`libc.so.6`). Those of the machine
itself lie where its dynamic linker looks; the build id tells whether they are the right ones.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from whocall.core.elf_head import build_id_of
from whocall.core.records import replace
from whocall.dumps.minidump import DumpModule

FOLDERS = (
    "lib64",
    "usr/lib64",
    "lib",
    "usr/lib",
    "usr/local/lib",
    "lib32",
    "usr/lib32",
    "system/lib64",
    "system/lib",
)
SUFFIXES = ("-linux-gnu", "-linux-gnueabihf", "-linux-gnueabi")
_VDSO = ("linux-vdso", "linux-gate")


def _folders(sysroot: str) -> list[str]:
    root = sysroot or "/"
    found = [os.path.join(root, folder) for folder in FOLDERS]
    for folder in ("lib", "usr/lib"):
        place = os.path.join(root, folder)
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        found += [os.path.join(place, name) for name in names if name.endswith(SUFFIXES)]
    return found


def with_places(modules: Sequence[DumpModule], sysroot: str) -> list[DumpModule]:
    """The modules with paths, as the process would name them, where a bare name was told.

    They are looked for below `sysroot`, then on this machine. A library is taken for found only
    where its build id is the one that was told.
    """
    bare = [module for module in modules if "/" not in module.path]
    if not bare:
        return list(modules)
    program = next((module.path for module in modules if "/" in module.path), "")
    folders = []
    for root in dict.fromkeys((sysroot, "")):
        folders += [root + os.path.dirname(program)] if program else []
        folders += _folders(root)
    result = []
    for module in modules:
        if module.path.startswith(_VDSO):
            module = replace(module, path="[vdso]")
        elif "/" not in module.path and module.build_id:
            places = (os.path.join(folder, module.path) for folder in folders)
            found = next((p for p in places if build_id_of(p) == module.build_id), "")
            if found:
                below = sysroot and found.startswith(sysroot)
                path = found[len(sysroot) :] if below else found
                module = replace(module, path="/" + path.lstrip("/"))
        result.append(module)
    return result

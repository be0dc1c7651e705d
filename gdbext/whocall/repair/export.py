"""A symbol file for a colleague without whocall: what it has, and how it is used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.counted import counted
from whocall.base.errors import Error
from whocall.base.native_errors import native_errors
from whocall.base.output_file import is_special, write_bytes

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.process_image import ProcessImage


@dataclass(frozen=True)
class Exported:
    """What an exported symbol file has."""

    named: int
    unnamed: int
    ruled: int  # functions with rules


def made_of(image: ProcessImage, index: int) -> tuple[bytes | memoryview, Exported]:
    """A file with names and all rules of image.modules[index]. Raises Error."""
    with native_errors():
        made = image.native.repair_file(index, budget=1 << 62)
    if not made.bytes:
        raise Error(f"{image.modules[index].path} lacks neither names nor rules: nothing to write")
    return made.bytes, Exported(made.named, made.unnamed, len(made.functions))


def export(image: ProcessImage, index: int, path: str) -> Exported:
    """Writes that file to `path`. Raises Error."""
    contents, made = made_of(image, index)
    write_bytes(path, contents, private=False)
    return made


def export_lines(module: native.Module, path: str, made: Exported) -> list[str]:
    """What was written, and how a colleague uses it; what went to a pipe has become some FILE."""
    path = "FILE" if is_special(path) else path
    build_id = module.build_id_in_memory or module.build_id_on_disk
    text = [
        f"{path}: {counted(made.named, 'name')}, {counted(made.unnamed, 'function')} without a"
        f" name, unwinding rules of {counted(made.ruled, 'function')} of {module.path}.",
        "gdb reads it where debug info of this build is looked for,",
    ]
    if build_id:
        place = f".build-id/{build_id[:2]}/{build_id[2:]}.debug"
        text.append(f'  as DIRECTORY/{place} with "set debug-file-directory DIRECTORY",')
        text.append("or in a gdb that has the program loaded:")
    else:
        text[-1] = "libwhocall does not take it, as the program has no build id: link with"
        text.append("-Wl,--build-id. In a gdb that has the program loaded:")
    name, file = (json.dumps(text) for text in (Path(module.path).name, path))
    text.append(
        f"  python gdb.lookup_objfile({name}).add_separate_debug_file({file});"
        " gdb.invalidate_cached_frames()"
    )
    return text

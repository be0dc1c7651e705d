"""What kind of input a file is: the native module tells it by its first bytes."""

from __future__ import annotations

import os
import stat

from whocall.base.regular_file import handed, open_regular

ELF = b"\x7fELF"
HEAD = 512  # bytes that tell the kind
CORE = 4  # of elf_type()
PACKINGS = ("zstd", "lz4", "xz", "gzip", "bzip2")


def elf_type(head: bytes) -> int:
    """ET_* of the header; 0 when it is none. It is told without the native module, too."""
    if len(head) < 18 or head[:4] != ELF:
        return 0
    return int.from_bytes(head[16:18], "big" if head[5] == 2 else "little")


def kind_of(head: bytes) -> str:
    """ "core", "elf" (another ELF file), "minidump", "microdump", "apport", one of PACKINGS, or "".

    That is for what is not known here.
    """
    from whocall.base.native_module import native

    return native.kind_of_input(head)


def is_pipe(path: str) -> bool:
    """Standard input, or what a shell's `<(...)` opens: it can be read once, from start to end."""
    if path == "-":
        return True
    number = handed(path)
    if number is None:
        return False
    try:
        return not stat.S_ISREG(os.fstat(number).st_mode)
    except OSError:
        return False


def kind_of_path(path: str) -> str:
    """As kind_of(), "pipe" and "abrt" (a directory) among it; "" for what cannot be read."""
    if is_pipe(path):
        return "pipe"
    if os.path.isdir(path):
        from whocall.dumps.abrt import is_problem

        return "abrt" if is_problem(path) else ""
    try:
        with open_regular(path) as file:
            return kind_of(file.read(HEAD))
    except OSError:
        return ""

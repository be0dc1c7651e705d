"""What kind of input a file is, told by its first bytes."""

from __future__ import annotations

import os
import stat

from whocall.core.regular_file import handed, open_regular

ELF = b"\x7fELF"
MINIDUMP = b"MDMP"
APPORT = b"ProblemType:"
MICRODUMP = (b"-----BEGIN BREAKPAD MICRODUMP", b"google-breakpad")  # what Android's log has
HEAD = 512  # bytes that tell the kind

_ELF_TYPES = {1: "an object file", 2: "an executable", 3: "a shared library or an executable"}
_PACKED = (
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
)


def elf_type(head: bytes) -> int:
    """ET_* of the header; 0 when it is none. 4 is a core."""
    if len(head) < 18 or head[:4] != ELF:
        return 0
    return int.from_bytes(head[16:18], "big" if head[5] == 2 else "little")


def kind_of(head: bytes) -> str:
    """ "core", "elf" (another ELF file), "minidump", "microdump", "apport", a compression, or "".

    That is for what is not known here.
    """
    if head[:4] == ELF:
        return "core" if elf_type(head) == 4 else "elf"
    if head[:4] == MINIDUMP:
        return "minidump"
    if head.startswith(APPORT):
        return "apport"
    if any(mark in head for mark in MICRODUMP):
        return "microdump"
    if head[:4] >= b"\x50\x2a\x4d\x18" and head[1:4] == b"\x2a\x4d\x18" and head[0] < 0x60:
        return "zstd"  # begins with a frame that readers skip
    return next((kind for magic, kind in _PACKED if head.startswith(magic)), "")


def described(head: bytes) -> str:
    """What the file is, for complaints."""
    kind = kind_of(head)
    if kind == "elf":
        return _ELF_TYPES.get(elf_type(head), "an ELF file of another kind")
    return kind or "in no format that is known here"


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

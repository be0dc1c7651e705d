"""Files that are no logs, told by their first bytes, and what reads them instead."""

from __future__ import annotations

from shlex import quote

from whocall.dumps.kinds import kind_of

_UNPACKED_BY = {
    "zstd": "zstd -dc",
    "lz4": "lz4 -dc",
    "xz": "xz -dc",
    "gzip": "gzip -dc",
    "bzip2": "bzip2 -dc",
}
_CRASHES = {"core": "a core", "minidump": "a minidump"}
# (first bytes, what begins so, what makes text of it)
_BINARY = (
    (b"LPKSHHRH", "a journal of systemd", "journalctl --file={}"),
    (b"PERFILE2", "a recording of perf", "perf script --show-mmap-events -i {}"),
    (b"\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 {}"),
    (b"\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 {}"),
)


def stranger(head: bytes, path: str) -> str:
    """What is wrong with a log that begins so, and what to do; "" where it may be one."""
    name = "standard input" if path == "-" else path
    file = "FILE" if path == "-" else quote(path)
    kind = kind_of(head)
    if kind in _CRASHES:
        return f"{name} is {_CRASHES[kind]}, not a log: `whocall bt {file}` shows its stacks"
    if kind == "elf":
        return (
            f"{name} is a program or a library, not a log: name the log, and the program by --exe"
            " or its directory by --symbols"
        )
    if kind in _UNPACKED_BY:
        return f"{name} is packed: `{_UNPACKED_BY[kind]} {file} | whocall resolve`"
    for magic, what, command in _BINARY:
        if head.startswith(magic):
            return f"{name} is {what}: `{command.format(file)} | whocall resolve`"
    return ""

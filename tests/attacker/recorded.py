"""Minidumps, records of crashes and traces with a hostile name in one of their fields."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from acceptance.logs.record_bytes import module, record, section, thread
from artifact_cache import Tool, kept, machine

from attacker import judges, told
from attacker.outputs import Judge, said

_BEGIN, _SIZE = 0x400000, 0x2000
_STACK = 0x7FFF0000
_RIP, _RSP = 0xF8, 0x98  # in a context of x86-64
_CONTEXT = 1232  # bytes
_PLAIN = b"/x/program"
_TRACED = "traced_" + "t" * 57
_FILE = "file_" + "f" * 59

Made = tuple[Path, str]  # the file, and the option that leads to what else it needs


def _minidump(path: bytes, name: bytes, command: bytes) -> bytes:
    """Of one thread, in the middle of one module, with two words of its stack."""
    context = bytearray(_CONTEXT)
    struct.pack_into("<Q", context, _RIP, _BEGIN + 0x1010)
    struct.pack_into("<Q", context, _RSP, _STACK)
    strings = [text.decode("utf-8", "replace").encode("utf-16-le") for text in (path, name)]
    bodies = {
        7: struct.pack("<H18xI8x", 9, 0x8201).ljust(56, b"\0"),
        0x47670006: command + b"\0--serve\0",
        97: bytes(context),
        98: struct.pack("<2Q", _BEGIN + 0x1040, _BEGIN + 0x1080),
        95: struct.pack("<I", len(strings[0])) + strings[0] + b"\0\0",
        96: struct.pack("<I", len(strings[1])) + strings[1] + b"\0\0",
    }
    sizes = {**{kind: len(body) for kind, body in bodies.items()}, 3: 52, 4: 112, 24: 16}
    at, places = 32 + 12 * len(sizes), {}
    for kind, size in sizes.items():
        places[kind] = at
        at += size
    bodies[3] = struct.pack(
        "<I4I2Q4I", 1, 7, 0, 0, 0, 0, _STACK, sizes[98], places[98], _CONTEXT, places[97]
    )
    bodies[4] = struct.pack("<IQIIII52xII24x", 1, _BEGIN, _SIZE, 0, 0, places[95], 0, 0)
    bodies[24] = struct.pack("<IIQ", 1, 7, places[96])
    rows = b"".join(struct.pack("<III", kind, sizes[kind], places[kind]) for kind in sizes)
    head = struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, len(sizes), 32, 0, 0, 0)
    return head + rows + b"".join(bodies[kind].ljust(sizes[kind], b"\0") for kind in sizes)


def _record(program: bytes, path: bytes, name: bytes) -> bytes:
    file = module(_BEGIN, _BEGIN + _SIZE, _BEGIN, "2a86d1c4e5f60718", "P" * len(path))
    file = file.replace(b"P" * len(path), path)
    frames = [(_BEGIN + 0x1010, 0, 0, 1), (_BEGIN + 0x1040, 0, 1, 0)]
    return record(section(1, program), file, thread(7, frames, name=name[:16]))


_PROGRAM = """
__attribute__((noinline)) int {traced}(int n) {{ return n > 0 ? {traced}(n - 1) + 1 : n; }}
int main(void) {{ return {traced}(3) == 99; }}
"""


def _recorded(place: Path) -> Path:
    from tracing.lab import build, run

    source = place / f"{_FILE}.c"
    source.write_text(_PROGRAM.format(traced=_TRACED))
    exe = build(place, source, "-O1")
    assert run(exe, WHOCALL_TRACE_FILE=str(place / "trace")).status == 0
    return place


def _trace(place: Path, field: str, name: bytes) -> Made:
    """The program that recorded calls, and what it wrote, which tells where that lay."""
    folder: Path = kept(("hostile traces", _PROGRAM, _FILE, Tool("gcc"), machine()), _recorded)
    old = {"symbol": _TRACED, "file": _FILE}[field].encode()
    text = name if field == "symbol" else name.replace(b"/", b"|")
    new = text[: len(old)].ljust(len(old), b"x")
    program = os.fsdecode(new) if field == "file" else _FILE
    for each, called in ((_FILE, program), ("trace", "trace")):
        (place / called).write_bytes((folder / each).read_bytes().replace(old, new))
    trace = place / "trace"
    above = str(folder).encode()
    data = trace.read_bytes()
    assert above in data
    trace.write_bytes(data.replace(above, b"/" + b"g" * (len(above) - 1)))
    return trace, f"--search={place}"


def _file(place: Path, data: bytes) -> Made:
    path = place / "input"
    path.write_bytes(data)
    return path, ""


FIELDS: dict[str, Callable[[Path, bytes], Made]] = {
    "module of a minidump": lambda at, name: _file(at, _minidump(name, b"t", _PLAIN)),
    "thread of a minidump": lambda at, name: _file(at, _minidump(_PLAIN, name, _PLAIN)),
    "command of a minidump": lambda at, name: _file(at, _minidump(_PLAIN, b"t", name)),
    "program of a record": lambda at, name: _file(at, _record(name, _PLAIN, b"t")),
    "module of a record": lambda at, name: _file(at, _record(_PLAIN, name, b"t")),
    "thread of a record": lambda at, name: _file(at, _record(_PLAIN, _PLAIN, name)),
    "symbol of a trace": lambda at, name: _trace(at, "symbol", name),
    "file of a trace": lambda at, name: _trace(at, "file", name),
    **told.FIELDS,
}


def _own_picture(text: str) -> Iterator[str]:
    """The one that zooms, by a script of whocall's."""
    return judges.picture(text, scripts=1)


_DUMPS: dict[str, tuple[list[str], Judge]] = {
    "bt": (["bt", "{file}", "--all"], judges.plain),
    "bt in colour": (["bt", "{file}", "--all", "--full", "--color=always"], judges.styled),
    "bt json": (["bt", "{file}", "--json", "--all"], judges.data),
    "modules": (["modules", "{file}"], judges.plain),
    "modules json": (["modules", "{file}", "--json"], judges.data),
    "why": (["why", "{file}"], judges.plain),
    "waits": (["waits", "{file}"], judges.plain),
    "markdown": (["bt", "{file}", "--format=markdown"], judges.markdown),
    "sarif": (["bt", "{file}", "--format=sarif"], judges.shown_data),
    "flamegraph": (["bt", "{file}", "--format=flamegraph"], judges.picture),
    "report json": (["report", "{file}", "--json", "--no-gdb"], judges.data),
}
_RECORDS: dict[str, tuple[list[str], Judge]] = {
    "resolve": (["resolve", "{file}"], judges.plain),
    "resolve in colour": (["resolve", "{file}", "--color=always"], judges.styled),
    "resolve json": (["resolve", "{file}", "--json"], judges.data),
}
_TRACES: dict[str, tuple[list[str], Judge]] = {
    "tree": (["trace", "{file}", "{search}"], judges.plain),
    "profile": (["trace", "{file}", "{search}", "--profile", "--color=always"], judges.styled),
    "callers": (["trace", "{file}", "{search}", "--callers"], judges.plain),
    "events": (["trace", "{file}", "{search}", "--json"], judges.data),
    "folded": (["trace", "{file}", "{search}", "--folded"], judges.folded),
    "svg": (["trace", "{file}", "{search}", "--svg"], _own_picture),
}

_TOLD = {
    form: ([*words, "{search}"], judge) for form, (words, judge) in _DUMPS.items()
}  # fmt: skip
_LIBRARIES: dict[str, tuple[list[str], Judge]] = {
    "functions": (["functions", "{file}", "--color=always"], judges.styled),
    "functions json": (["functions", "{file}", "--json"], judges.data),
    "symbol": (["symbol", "{file}", told.ADDRESS], judges.plain),
    "audit": (["audit", "{file}"], judges.plain),
}


def outputs_of(field: str) -> dict[str, tuple[list[str], Judge]]:
    """The commands that read such a file, and who judges what they say."""
    kind = field.rsplit(" ", 1)[-1]
    known = {"minidump": _DUMPS, "record": _RECORDS, "trace": _TRACES, "library": _LIBRARIES}
    return known.get(kind, _TOLD)


def complaints(made: Made, field: str, form: str) -> Iterator[str]:
    """What is wrong with one output."""
    file, search = made
    words, judge = outputs_of(field)[form]
    told = [{"{file}": str(file), "{search}": search}.get(word, word) for word in words]
    try:
        out, err = said(told)
        found = [*(judge(out) if out else ()), *judges.plain(err)]
        if not out and not err:
            found.append("nothing is said")
    except Exception as error:
        out = err = ""
        found = [f"{type(error).__name__}: {error}"]
    if "Traceback" in out + err:
        found.append("a traceback")
    for each in found:
        yield f"{form} of a hostile {field}: {each}"

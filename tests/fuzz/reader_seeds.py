"""Seeds of the readers' fuzzers: small, whole inputs of every form, made on the spot."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path


def microdump() -> bytes:
    """A system, a signal, a stack, registers, two modules; and the beginning of another."""
    lines = [
        "-----BEGIN BREAKPAD MICRODUMP-----", "V app:1.2", "O A x86_64 04 x86_64 6.1",
        "R 0000000B SIGSEGV 0000000000000010", "S 0 7FFF0010 7FFF0000 00001000",
        f"S 7FFF0000 {'41' * 64}", f"S 7FFF0040 {'00' * 64}", f"C {'00' * 1232}",
        "M 400000 0 2000 0123456789ABCDEF0123456789ABCDEF0 program",
        "M 7F0000000000 1000 1000 000000000000000000000000000000000 lib base.apk",
        "-----END BREAKPAD MICRODUMP-----", "-----BEGIN BREAKPAD MICRODUMP-----",
    ]  # fmt: skip
    return "".join(
        f"01-25 09:57:54.139 F/google-breakpad(234): {line}\n" for line in lines
    ).encode()


def minidump() -> bytes:
    """A system, a thread with its stack, a module with a build id, lists of Linux, an exception."""
    text = {"name": "/bin/program".encode("utf-16-le")}
    parts: list[bytes] = []
    begin = 32 + 12 * 8

    def put(data: bytes) -> int:
        at = begin + sum(map(len, parts))
        parts.append(data + bytes(-len(data) % 8))
        return at

    context = bytes(48) + struct.pack("<I", 0x10000F) + bytes(1232 - 52)
    name = put(struct.pack("<I", len(text["name"])) + text["name"] + b"\0\0")
    record = put(b"LEpB" + bytes(range(20)))
    stack = put(bytes(range(256)))
    cpu = put(context)
    info = struct.pack("<HHHBBIIII", 9, 0, 0, 1, 0, 0, 0, 0, 0x8201) + bytes(32)
    thread = struct.pack("<IIIIQQIIII", 7, 0, 0, 0, 0, 0x7000, 256, stack, 1232, cpu)
    module = struct.pack("<QIIII52xIIII16x", 0x400000, 0x2000, 0, 0, name, 24, record, 0, 0)
    exception = struct.pack("<II", 7, 0) + struct.pack("<IIQQII", 11, 1, 0, 0x10, 0, 0)
    exception += bytes(120) + struct.pack("<II", 1232, cpu)
    maps = b"400000-402000 r-xp 00000000 08:01 5 /bin/program\n"
    streams = [
        (7, info),
        (3, struct.pack("<I", 1) + thread),
        (4, struct.pack("<I", 1) + module),
        (5, struct.pack("<IQII", 1, 0x7000, 256, stack)),
        (6, exception),
        (0x47670004, b"Pid:\t7\n"),
        (0x47670009, maps),
        (9, struct.pack("<QQQQ", 1, begin, 0x7000, 8)),
    ]
    placed = [(kind, len(data), put(data)) for kind, data in streams]
    table = b"".join(struct.pack("<III", *row) for row in placed)
    head = struct.pack("<IIIIIIQ", 0x504D444D, 0xA793, len(placed), 32, 0, 0, 0)
    return head + table + b"".join(parts)


def tar(*files: tuple[str, bytes]) -> bytes:
    """Of two kinds: long names and links among them."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as file:
        for name, contents in files:
            member = tarfile.TarInfo(name)
            member.size = len(contents)
            file.addfile(member, io.BytesIO(contents))
        link = tarfile.TarInfo("lib/x.so")
        link.type, link.linkname = tarfile.SYMTYPE, "../usr/x.so.1"
        file.addfile(link)
    return made.getvalue()


def image() -> bytes:
    """What `docker save` writes."""
    layer = tar(("usr/bin/program", b"\x7fELF" + bytes(60)), ("a/.wh.b", b""))
    configuration = json.dumps({"architecture": "amd64", "os": "linux"}).encode()
    listed = [{"Config": "c.json", "RepoTags": ["a:b"], "Layers": ["l/layer.tar"]}]
    return tar(
        ("manifest.json", json.dumps(listed).encode()),
        ("c.json", configuration),
        ("l/layer.tar", layer),
    )


def record() -> bytes:
    """A record of libwhocall: program, module, thread, stack."""
    module = struct.pack("<QQQHHI", 0x400000, 0x402000, 0, 4, 6, 0) + b"\1\2\3\4/bin/a"
    thread = struct.pack("<II16sIIIIII", 7, 1, b"main", 2, 1, 1, 0, 0, 0)
    thread += struct.pack("<QQ", 0x401000, 0x7000) + struct.pack("<QHBBI", 0x401000, 0, 0, 0, 0)
    body = b""
    for kind, part in (
        (1, b"/bin/a"),
        (2, module),
        (3, thread),
        (4, struct.pack("<Q", 0x7000) + bytes(64)),
    ):
        body += struct.pack("<II", kind, len(part)) + part + bytes(-len(part) % 8)
    head = struct.Struct("<8sBBHHHIIQQIIIiQ")
    fields = (b"WHOCRASH", 1, 8, 1, 62, 0, head.size + len(body))
    rest = (1, 0, 7, 7, 11, 1, 0x10)
    bare = head.pack(*fields, 0, *rest) + body
    return head.pack(*fields, zlib.crc32(bare), *rest) + body


def journal() -> bytes:
    """Two crashes: one as text, one whose fields are lists and bytes."""
    entries = [
        {
            "_UID": "0",
            "COREDUMP_PID": "7",
            "COREDUMP_EXE": "/bin/a",
            "COREDUMP_FILENAME": "/var/a.zst",
            "COREDUMP_TIMESTAMP": "1700000000000000",
            "COREDUMP_UNIT": "a.service",
        },
        {
            "_UID": "0",
            "COREDUMP_COMM": [97, 98],
            "COREDUMP_TIMESTAMP": ["1", "2"],
            "_HOSTNAME": None,
        },
    ]
    return b"\n".join(json.dumps(entry).encode() for entry in entries)


def apport() -> bytes:
    """A report whose core is none."""
    packed = base64.b64encode(gzip.compress(b"core" * 100))
    fields = b"ProblemType: Crash\nExecutablePath: /bin/a\nProcMaps:\n 400000-402000 r-xp\n"
    return fields + b"CoreDump: base64\n " + packed + b"\nSignal: 11\n"


_LOGS = (
    b"whocall: SIGSEGV in process 7\n#0  0x401136 /bin/a(+0x1136) down+0x9 [cfi]\n",
    b"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x10\n"
    b"    #0 0x401136 in down (/bin/a+0x1136) (BuildId: 0102030405)\n",
    b"*** Error in `/bin/a': free(): invalid pointer ***\n"
    b"/lib/libc.so.6(+0x2a1c)[0x7f0000001a1c]\n",
    b"[ 1.5] a[7]: segfault at 10 ip 401136 sp 7ffc000 error 4 in a[400000+2000]\n",
    b"goroutine 1 [running]:\nmain.main()\n\t/src/a.go:3 +0x1d\n",
    b"backtrace:\n  #00 pc 0000000000001136  /system/lib64/liba.so (down+20) (BuildId: 0102)\n",
    b"#0  0x0000000000401136 in down () from /bin/a\n#1  0x401140 in ?? ()\n",
    b"thread 'main' panicked at src/main.rs:3:5:\nboom\n   0: 0x401136 - a::main\n",
    b"a 7 1.5: 1 cycles:\n\t    401136 down+0x9 (/bin/a)\n",
    b"# A fatal error:\n# C  [liba.so+0x1136]  down+0x9\n400000-402000 r-xp 0 08:01 5 /bin/a\n",
    b"==7== Invalid read of size 4\n==7==    at 0x401136: down (a.c:3)\n",
    b"#0 0x0000401136 base::debug::StackTrace (/bin/a+0x1136)\nReceived signal 11\n",
)


def _store() -> bytes:
    """An empty store of results."""
    from whocall.triage.store import Store

    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "results")
        Store(str(path)).close()
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode = DELETE")
        database.close()
        return path.read_bytes()


def seeds(name: str) -> list[bytes]:
    """Of one target."""
    packed = [gzip.compress(b"a" * 500), lzma.compress(b"a" * 500), bz2.compress(b"a" * 500)]
    zstd = subprocess.run(["zstd", "-q"], input=b"a" * 500, capture_output=True, check=False)
    packed += [zstd.stdout] if zstd.stdout else []
    made: dict[str, list[bytes]] = {
        "elf_head": [Path(sys.executable).resolve().read_bytes()[:16384]],
        "tar": [tar(("a", b"b" * 700), ("n" * 200, b"c")), image()],
        "image": [image(), gzip.compress(image())],
        "journal": [journal()],
        "abrt_problem": [b"coredump\0core\0cmdline\0/bin/a -x\0time\x001700000000"],
        "arrival": [*packed, apport(), minidump(), gzip.compress(minidump()), microdump()],
        "log": [*_LOGS, b"".join(_LOGS), record()],
        "record": [record(), record() + bytes(512 - len(record()) % 512) + record()],
        "maps": [
            b"400000-402000 r-xp 00000000 08:01 5 /bin/a\n7f0000-7f1000 rw-p 0 0:0 0 [stack]\n"
        ],
        "triage_store": [_store()],
    }
    return made[name]

"""The files that the commands work on, and how they run."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
from corpus.crash import crash
from faults.inputs import recorded

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "gdbext" / "whocall.py"
LWP = 4242
# By command: its arguments, in a folder with the files.
LINES = {
    "bt": "bt core shop",
    "caller": "caller core shop",
    "why": "why core shop",
    "waits": "waits core shop",
    "compare": "compare core shop",
    "functions": "functions shop",
    "symbol": "symbol shop total_of 401014 nowhere",
    "modules": "modules core shop",
    "audit": "audit shop",
    "signatures": "signatures libshop.a -o made.sig",
    "export": "export shop -o made.debug",
    "repair-plan": "repair-plan core shop --folder plans",
    "doctor": "doctor",
    "resolve": "resolve log --exe shop",
    "unpack": "unpack core -o made.core",
    "shrink": "shrink core shop -o small.core",
    "report": "report core --exe shop -o made.html --no-gdb",
    "receive": "receive --socket none/crashes",
    "serve": "serve none --port 0",
    "triage": "triage core",
    "trace": "trace calls",
}
WAITING = {"receive", "serve"}
"""They end when they are told to."""
# More of some.
MORE = {
    "bt full": "bt core shop --full",
    "bt explain": "bt core shop --explain",
    "bt all": "bt core shop --all",
    "bt guessed": "bt core stripped --without cfi,analysis,frame-pointer",
    "functions stripped": "functions stripped",
}
# By command of gdb's console: its lines, in a session with the program and its core.
GDB_LINES = {
    "bt": ("whocall bt",),
    "caller": ("whocall",),
    "frame": ("whocall frame 1",),
    "why": ("whocall why",),
    "waits": ("whocall waits",),
    "compare": ("whocall compare",),
    "functions": ("whocall functions total",),
    "symbol": ("whocall symbol total_of 0x401014",),
    "modules": ("whocall modules",),
    "audit": ("whocall audit shop",),
    "signatures": ("whocall signatures libshop.a -o gdb.sig",),
    "export": ("whocall export gdb.debug",),
    "repair": ("whocall repair", "bt"),
    "revert": ("whocall repair", "whocall revert", "bt"),
    "doctor": ("whocall doctor",),
    "open": ("whocall open nothing",),  # of one that is there gdb speaks, in words of its release
    "report": ("whocall report -o gdb.html",),
    "trace": ("whocall trace calls",),
}
LOG = """starting
./shop(total_of+0xb)[0x40101b]
./shop(+0x1034)[0x401034]
done
"""
TRACED = "void inner(void) {}\nvoid outer(void) { inner(); }\nint main(void) { outer(); }\n"
WIDTHS = {"80": 80, "120": 120, "file": 0}
ALL = {**LINES, **MORE}


def _numbered(core: Path) -> None:
    """The thread has a number of its own on each run: here it is always the same."""
    contents = bytearray(core.read_bytes())
    for note, at in ((b"CORE\0\0\0\0", 32), (b"CORE\0\0\0\0", 24)):
        kind = 1 if at == 32 else 3  # NT_PRSTATUS, NT_PRPSINFO
        head = struct.pack("<I", kind) + note
        found = contents.find(head)
        struct.pack_into("<I", contents, found + len(head) + at, LWP)
    core.write_bytes(contents)


@contextmanager
def place() -> Iterator[Path]:
    """A folder whose path is as long everywhere, with all files."""
    folder = Path(tempfile.mkdtemp(prefix="golden-", dir="/tmp"))
    try:
        object_, exe = folder / "shop.o", folder / "shop"
        subprocess.run(["as", HERE / "shop.S", "-o", object_], check=True)
        subprocess.run(
            ["ld", "-static", "--build-id=0x5ca1ab1e5ca1ab1e", object_, "-o", exe], check=True
        )
        subprocess.run(["ar", "rcsD", folder / "libshop.a", object_], check=True)
        subprocess.run(["strip", exe, "-o", folder / "stripped"], check=True)
        shutil.copy(crash(exe, folder).core, folder / "core")
        _numbered(folder / "core")
        (folder / "log").write_text(LOG)
        for name in ("plans", "none"):
            (folder / name).mkdir()
        recorded(folder, TRACED)
        yield folder
    finally:
        shutil.rmtree(folder)


def _plain(text: str, folder: Path) -> str:
    """Without what is another on each run or machine, at its width."""
    text = text.replace("\r\n", "\n").replace(str(folder), "/tmp/golden-PLACE...")

    def hidden(found: re.Match[str]) -> str:
        return found[0] if re.fullmatch("0x0*40[0-9a-f]{4}|0x[0-9a-f]{1,3}", found[0]) else (
            "0x" + "h" * (len(found[0]) - 2)
        )  # fmt: skip

    text = re.sub("0x[0-9a-f]+", hidden, text)
    return "\n".join(line.rstrip() for line in text.splitlines() if "[vdso]" not in line) + "\n"


# By command: what else is another on each run or machine, and what stands for it.
_OTHERWISE = {
    "doctor": [(r"(?m)^ +\S.*\n", ""), (r"(?m)^([\w ]+: +).*$", r"\1...")],
    "triage": [(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "dddd-dd-ddTdd:dd:ddZ")],
    "unpack": [(r"\d+ bytes", "N bytes")],
    "shrink": [(r"\d+ bytes, \S+ %", "N bytes, N %")],
    "repair-plan": [(r'"code": \[.*?\]\], ', '"code": [...], ')],
    "trace": [(r"(?m) <- .*$", " <- ..."), (r"\d[0-9.,]*\b( [num]?s\b)?", "N"), (" +", " ")],
}


def _said(words: list[str], width: int, folder: Path, ending: bool = True) -> str:
    """What a program prints on a terminal that is so wide; 0: what goes to a file. Of one that does
    not end by itself a line.
    """
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm", "WHOCALL_CACHE": "off"}
    if width:
        child = pexpect.spawn(
            words[0], words[1:], dimensions=(40, width), cwd=str(folder), timeout=300,
            env=environment, encoding="utf-8",
        )  # fmt: skip
        child.expect(pexpect.EOF if ending else r"(?<=/)[^\n]*\n")
        said = (child.before or "") + ("" if ending else child.after)
        child.close(force=True)
        return said
    with subprocess.Popen(
        words, cwd=folder, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as ran:  # fmt: skip
        assert ran.stdout is not None
        said = ran.stdout.read() if ending else ran.stdout.readline()
        if not ending:
            ran.terminate()
    return said


def _same_everywhere(said: str, name: str, folder: Path) -> str:
    said = re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", said)  # how far it is
    said = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", said)
    said = re.sub(r"/tmp\w{8}\.symbols", "/NAME.symbols", said)
    said = re.sub(r"/[0-9A-Za-z_-]{16,}/", "/TOKEN/", said)
    found = _plain(said, folder)
    for pattern, instead in _OTHERWISE.get(name, ()):
        found = re.sub(pattern, instead, found)
    return found


def text_of(name: str, width: int, folder: Path) -> str:
    """What a command prints."""
    words = [sys.executable, str(SCRIPT), *ALL[name].split()]
    return _same_everywhere(
        _said(words, width, folder, ALL[name].split()[0] not in WAITING), name, folder
    )


def gdb_text_of(name: str, width: int, folder: Path) -> str:
    """What a command of gdb's console prints; what gdb says of the core before is left out."""
    begin = "-- begin --"
    lines = ["set height 0", f"set width {width}", f"source {SCRIPT}"]
    lines += [f"echo {begin}\\n", *GDB_LINES[name]]
    words = [os.environ.get("GDB", "gdb"), "-nx", "-q", "-batch"]
    for each in ("debuginfod enabled off", "style enabled off", "auto-load off"):
        words += ["-iex", f"set {each}"]
    for line in lines:
        words += ["-ex", line]
    program = "stripped" if name in ("export", "repair", "revert") else "shop"
    words += [] if name == "open" else [program, "core"]
    said = _said(words, width, folder).replace("\r\n", "\n")
    return _same_everywhere(said.partition(f"{begin}\n")[2], name, folder)


def kept(name: str, width: str, where: str = "texts") -> Path:
    """The file with the text that it has to be."""
    return HERE / where / f"{name.replace(' ', '-')}.{width}.txt"

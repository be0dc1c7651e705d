"""A program, stopped deep in its work, and what was on its stack by the calls that it made."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import Tool, kept, sources
from corpus.crash import ENVIRONMENT, set_limits
from places.needs import OWN_CORES, require
from ports.elf import Core

from foreign_stock.roots import qemu_with_plugins, root_of

HERE = Path(__file__).parent
SCRIPTS = HERE / "programs"
STACK = 1024 * 1024
"""Of the guest: qemu dumps all of it."""
HEAD = "<5Q"
"""Of struct stack in shadow.c: the thread, how deep it is, where its last block begins and where it
ends, and whether in a call.
"""
# A stub of lazy binding calls the linker, and never gets back what it calls with.
AT_ONCE = ("-E", "LD_BIND_NOW=1")


@dataclass(frozen=True)
class ForeignSet:
    """An architecture of the distribution's."""

    name: str
    qemu: str
    pc_at: int
    """Of the pc in an NT_PRSTATUS note, bytes."""


SETS = {
    one.name: one
    for one in (
        ForeignSet("arm64", "qemu-aarch64", 112 + 8 * 32),
        ForeignSet("armhf", "qemu-arm", 72 + 4 * 15),
        ForeignSet("mipsel", "qemu-mipsel", 72 + 4 * 40),
        ForeignSet("mips64el", "qemu-mips64el", 112 + 8 * 34),
    )
}
PROGRAMS = {
    "bash": ("bin/bash", "recurse.sh"),
    "dash": ("bin/dash", "recurse.sh"),
    "gawk": ("usr/bin/gawk", "-f", "recurse.awk"),
    "lua": ("usr/bin/lua5.4", "recurse.lua"),
    "perl": ("usr/bin/perl", "recurse.pl"),
    "python3": ("usr/bin/python3.11", "-S", "recurse.py"),
    "sqlite3": ("usr/bin/sqlite3", "-cmd", ".shell kill -ABRT $PPID", ":memory:"),
    "tclsh": ("usr/bin/tclsh8.6", "recurse.tcl"),
}


class CrashError(Exception):
    """A program could not be stopped."""


@dataclass(frozen=True)
class ForeignCrash:
    """A core file, its program, and the return addresses on the stack, the innermost first."""

    core: Path
    exe: Path
    sysroot: str
    returns: tuple[int, ...]


def _plugin() -> Path:
    source = HERE / "shadow.c"

    def build(place: Path) -> Path:
        made = place / "shadow.so"
        command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"]
        subprocess.run([*command, str(source), "-o", str(made)], check=True)
        return made

    return kept(("shadow", source.read_bytes(), Tool("gcc")), build)


def _returns(shadow: Path, pc: int) -> tuple[int, ...]:
    """A signal that comes between a call and the first instruction of what it calls finds the last
    call unrecorded.
    """
    data = shadow.read_bytes()
    _, depth, begin, end, calls = struct.unpack_from(HEAD, data)
    back = struct.unpack_from(f"<{depth}Q", data, struct.calcsize(HEAD))
    left = bool(calls) and pc != end and not begin <= pc < end
    return tuple(address & ~1 for address in [*([end] if left else []), *reversed(back)])


def _libraries(root: Path) -> tuple[str, str]:
    """Later emulators ask this machine, and not the root, whether there is a folder: of one that is
    not here too the guest's loader finds the first file, or nothing.
    """
    places = (root / "lib", root / "usr/lib")
    folders = [str(path) for place in places for path in place.glob("*-linux-gnu*")]
    return "-E", f"LD_LIBRARY_PATH={':'.join(folders)}"


def _run(place: Path, of: ForeignSet, root: Path, exe: str, arguments: list[str]) -> ForeignCrash:
    require(OWN_CORES)
    shadow = place / "shadow"
    command = [*qemu_with_plugins(of.qemu), "-L", str(root), *AT_ONCE, *_libraries(root)]
    command += ["-plugin", f"{_plugin()},out={shadow}"]
    subprocess.run(
        [*command, str(root / exe), *arguments],
        cwd=place,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=False,
        preexec_fn=lambda: set_limits(stack=STACK, dumped=0),
    )
    for host in place.glob("core*"):
        host.unlink()
    cores = list(place.glob("qemu_*.core"))
    if len(cores) != 1:
        raise CrashError(f"{of.name}, {exe}: wrote {len(cores)} cores")
    returns = _returns(shadow, next(iter(Core(cores[0]).threads(of.pc_at))).pc & ~1)
    shadow.unlink()
    subprocess.run(["fallocate", "--dig-holes", str(cores[0])], check=True)
    return ForeignCrash(cores[0], root / exe, str(root), returns)


def crash_of(name: str, program: str) -> ForeignCrash:
    """Made once on a machine."""
    of, root = SETS[name], root_of(name)
    exe, *words = PROGRAMS[program]
    arguments = [str(SCRIPTS / word) if (SCRIPTS / word).exists() else word for word in words]
    texts = sources(SCRIPTS, suffixes=(".sh", ".awk", ".lua", ".pl", ".py", ".tcl"))
    plugin = (HERE / "shadow.c").read_bytes()
    emulator = Tool(qemu_with_plugins(of.qemu)[-1])
    started = (PROGRAMS[program], *_libraries(root))
    recipe = ("foreign", name, started, str(root), emulator, plugin, texts, STACK)
    return kept(recipe, lambda place: _run(place, of, root, exe, arguments))

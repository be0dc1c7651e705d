"""Programs that say why they end, and their cores: of stripped copies, without any debug package.

What each says is read off its own standard error, before it is stripped. Beside them stand programs
that end in a like way and say nothing, or whose words were overwritten.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from acceptance.helpers.rust_programs import RUSTC
from artifact_cache import Tool, kept, machine
from corpus.crash import crash, set_limits
from places.needs import OWN_CORES, require

from causes.last_words_sources import CXX, GO, PYTHON, RUST, C

AARCH64 = "aarch64-linux-gnu"
SYSROOT = f"/usr/{AARCH64}"  # of the compilers for it


class Program(NamedTuple):
    """A source, and how it is built: the words of a command that `-o` FILE and SOURCE follow."""

    source: str
    ending: str
    command: tuple[str, ...]


def _python() -> list[str]:
    """What a program needs that has the interpreter of the system in it."""
    told = sysconfig.get_config_vars()
    return [f"-I{told['INCLUDEPY']}", f"-L{told['LIBDIR']}", f"-l:{told['LDLIBRARY']}"]


# Later compilers move what stands before abort() out of its function.
_HARDENED = ("-O2", "-w", "-fstack-protector-all", "-D_FORTIFY_SOURCE=2",
             "-fno-reorder-blocks-and-partition")  # fmt: skip
_CXX = ("g++", "-std=c++17", "-w", "-D_GLIBCXX_ASSERTIONS")
_RUST = ("--edition=2021", "-O")
PROGRAMS = {
    "c": Program(C, "c", ("gcc", *_HARDENED)),
    "c-static": Program(C, "c", ("gcc", *_HARDENED, "-static")),
    "c-plain": Program(C, "c", ("gcc", "-O0", "-w", "-static")),
    "c-small": Program(C, "c", ("gcc", "-Os", "-w", "-static")),
    "c-32": Program(C, "c", ("gcc", *_HARDENED, "-m32")),
    "c-musl": Program(C, "c", ("musl-gcc", "-O2", "-w")),
    "c-musl-static": Program(C, "c", ("musl-gcc", "-O2", "-w", "-static")),
    "cxx": Program(CXX, "cpp", (*_CXX, "-O2")),
    "cxx-plain": Program(CXX, "cpp", (*_CXX, "-O0")),
    "cxx-static": Program(CXX, "cpp", (*_CXX, "-O2", "-static")),
    "cxx-hidden": Program(CXX, "cpp", (*_CXX, "-O2", "-static-libstdc++", "-static-libgcc")),
    "cxx-32": Program(CXX, "cpp", (*_CXX, "-O2", "-m32")),
    "c-aarch64": Program(C, "c", (f"{AARCH64}-gcc", *_HARDENED)),
    "cxx-aarch64": Program(CXX, "cpp", (f"{AARCH64}-g++", *_CXX[1:], "-O2")),
    "cxx-aarch64-plain": Program(CXX, "cpp", (f"{AARCH64}-g++", *_CXX[1:], "-O0")),
    "python": Program(PYTHON, "py.c", ("gcc", "-O2", *_python())),
    "go": Program(GO, "go", ("/usr/bin/go", "build")),
}


def _rust_compilers() -> list[str]:
    """Debian's, and another that the machine has."""
    places = os.pathsep.join((str(Path("~/.cargo/bin").expanduser()), os.environ["PATH"]))
    found = [RUSTC, shutil.which("rustc", path=places) or RUSTC]
    return list(dict.fromkeys(str(Path(each)) for each in found))


for _at, _compiler in enumerate(_rust_compilers()):
    _name = "rust" if not _at else "rust-other"
    for _panic in ("abort", "unwind"):
        PROGRAMS[f"{_name}-{_panic}"] = Program(
            RUST, "rs", (_compiler, *_RUST, f"-Cpanic={_panic}")
        )
    PROGRAMS[f"{_name}-lto-abort"] = Program(
        RUST, "rs", (_compiler, *_RUST, "-Cpanic=abort", "-Clto=fat", "-Ccodegen-units=1")
    )


def _last_line(said: str) -> list[str]:
    return said.strip().splitlines()[-1:]


def _exception(said: str) -> list[str]:
    if "Assertion '" in said:
        return [said.strip()]
    found = re.search(r"instance of '(.*)'\n(?:  what\(\):  (.*))?", said)
    return (
        ["without an active exception"]
        if found is None
        else [each for each in found.groups() if each]
    )


def _panic_of_rust(said: str) -> list[str]:
    """The last one's text and place: the place stood behind it until Rust 1.73."""
    if "fatal runtime error: " in said:
        return re.findall("fatal runtime error: stack overflow", said)
    _, _, last = said.rpartition("' panicked at ") if "panicked at '" in said else ("", "", "")
    found = re.match(r"'(.*)', (\S+:\d+:\d+)\n", last, re.DOTALL)
    if found is not None:
        return [found[1], found[2]]
    *_, last = re.split(r"panicked at (?=\S+:\d+:\d+:\n)", said)
    place, _, text = last.partition(":\n")
    return [re.split(r"\n(?:note: |stack backtrace|thread caused|$)", text)[0], place]


def _panic_of_go(said: str) -> list[str]:
    return re.findall(r"\A(?:panic|fatal error): (.*)", said)


SAID: dict[str, Callable[[str], list[str]]] = {
    "c": _last_line,
    "cpp": _exception,
    "rs": _panic_of_rust,
    "go": _panic_of_go,
    "py.c": lambda said: [said.splitlines()[0]],
}


class Ended(NamedTuple):
    """A program that ended: the core of its stripped copy, and its words, a text each."""

    core: Path
    exe: Path
    said: list[str]


def _built(program: Program, place: Path) -> Path:
    source, exe = place / f"ledger.{program.ending}", place / "ledger"
    source.write_text(program.source)
    environment = {**os.environ, "LC_ALL": "C"}
    if program.ending == "go":
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(place), "CGO_ENABLED": "0",
                       "GOCACHE": str(place / "cache"), "GO111MODULE": "off"}  # fmt: skip
    command = [*program.command, "-o", str(exe), source.name]
    command.sort(key=lambda word: word.startswith("-l:"))  # libraries last
    subprocess.run(command, cwd=place, env=environment, check=True)
    shutil.rmtree(place / "cache", ignore_errors=True)
    return exe


def _emulated(exe: Path, variables: dict[str, str], place: Path) -> Path:
    """The core that qemu writes; the host's, of qemu itself, is not that one."""
    require(OWN_CORES)
    command = ["qemu-aarch64", "-L", SYSROOT, str(exe)]
    with (place / "said").open("wb") as said:
        subprocess.run(command, cwd=place, env={**os.environ, **variables}, stderr=said,
                       check=False, preexec_fn=set_limits)  # fmt: skip
    for host in place.glob("core*"):
        host.unlink()
    (core,) = place.glob("qemu_*.core")
    return core


def _run(exe: Path, how: str, place: Path, is_foreign: bool) -> tuple[Path, str]:
    """The core, and what was said on standard error."""
    place.mkdir()
    variables = {"HOW": how, "GOTRACEBACK": "crash", "LONG": "A" * 64}
    if is_foreign:
        core = _emulated(exe, variables, place)
    else:
        core = crash(exe, place, variables=variables, errors=place / "said").core
    said = (place / "said").read_text(errors="surrogateescape")
    return core, re.sub(r"^qemu: uncaught target signal.*\n", "", said, flags=re.MULTILINE)


def _ended(program: Program, hows: Sequence[str], place: Path) -> dict[str, Ended]:
    exe = _built(program, place)
    is_foreign = program.command[0].startswith(AARCH64)
    texts = {}
    for how in hows:
        core, said = _run(exe, how, place / f"{how}-named", is_foreign)
        texts[how] = SAID[program.ending](said) if said.strip() else []
        core.unlink()
    subprocess.run([f"{AARCH64}-strip" if is_foreign else "strip", str(exe)], check=True)
    return {how: Ended(_run(exe, how, place / how, is_foreign)[0], exe, texts[how]) for how in hows}


def ended(name: str, hows: Sequence[str]) -> dict[str, Ended]:
    """The ends of a program, by what HOW said."""
    program = PROGRAMS[name]
    recipe = ("last words", program, tuple(hows), Tool(program.command[0]), machine(), C)
    return kept(recipe, lambda place: _ended(program, hows, place))

"""Real files with a full .symtab, on a Debian machine that has nothing but packages.

The distribution strips every program, valgrind's tools too; what it cannot strip are static
archives. So the archives of a few development packages are linked whole, with nothing resolved,
into files that cannot run but have the code, symbols and unwind tables of the real thing: a C
library, compilers' run-time libraries, libbfd, an interpreter. Each takes less than 0.2 s.

ld's --no-warnings is not used: with binutils 2.40 it silences errors too, exit code included.
"""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import compilers, kept
from artifact_cache.recipe import identity

from oracles import tools
from oracles.distribution import python_archive

X86_64, I386 = "-m64", "-m32"
_EMULATION = {X86_64: "elf_x86_64", I386: "elf_i386"}

# What the start-up files and the linker would define: hidden symbols, whose lack is an error in
# spite of --unresolved-symbols=ignore-all.
_HANDLE = ("__dso_handle",)
_START_UP = ("__dso_handle", "_init", "_fini", "_start", "_DYNAMIC")

_MUSL = "/usr/lib/x86_64-linux-musl/libc.a"


@dataclass(frozen=True)
class Archive:
    """A static archive: the name of what is made of it, its path or what gcc finds, its package."""

    name: str
    where: str
    package: str
    machine: str = X86_64
    defined: tuple[str, ...] = _HANDLE

    def path(self) -> Path | None:
        """Where it lies; None if the package is not installed."""
        if self.where.startswith("/"):
            path = Path(self.where)
        else:
            path = Path(_found_by_gcc(self.where, self.machine))
        return path if path.is_absolute() and path.exists() else None


ARCHIVES = (
    Archive("libc", "libc.a", "libc6-dev", defined=_START_UP),
    Archive("libmvec", "libmvec.a", "libc6-dev"),
    Archive("libstdc++", "libstdc++.a", "g++"),
    Archive("libasan", "libasan.a", "gcc"),
    Archive("libtsan", "libtsan.a", "gcc"),
    Archive("libubsan", "libubsan.a", "gcc"),
    Archive("libgomp", "libgomp.a", "gcc"),
    Archive("libitm", "libitm.a", "gcc"),
    Archive("libbfd", "libbfd.a", "binutils-dev"),
    Archive("libopcodes", "libopcodes.a", "binutils-dev"),
    Archive("libiberty", "libiberty.a", "libiberty-dev"),
    Archive("libcapstone", "libcapstone.a", "libcapstone-dev"),
    Archive("liblzma", "liblzma.a", "liblzma-dev"),
    Archive("libz", "libz.a", "zlib1g-dev"),
    Archive("libzstd", "libzstd.a", "libzstd-dev"),
    Archive("libpython", str(python_archive()), "libpython3-dev"),
    Archive("musl", _MUSL, "musl-dev"),
    Archive("libc-i386", "libc.a", "libc6-dev-i386", I386, _START_UP),
    Archive("libstdc++-i386", "libstdc++.a", "g++-multilib", I386),
    Archive("libasan-i386", "libasan.a", "gcc-multilib", I386),
    Archive("libgomp-i386", "libgomp.a", "gcc-multilib", I386),
)

_CPP_SOURCE = r"""
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main(int argc, char **argv) {
  std::map<std::string, std::regex> patterns;
  for (int number = 1; number < argc; ++number) patterns.emplace(argv[number], argv[number]);
  for (const auto &[text, pattern] : patterns) std::cout << std::regex_match(text, pattern) << text;
}
"""


@functools.cache
def _found_by_gcc(name: str, machine: str) -> str:
    return tools.run(["gcc", machine, f"-print-file-name={name}"]).strip()


def link_whole(archive: Archive, directory: Path) -> Path:
    """Link every member of an archive into one file `NAME.elf`; the archive has to be installed."""
    path = archive.path()
    if path is None:
        raise FileNotFoundError(f"{archive.where}: install {archive.package}")
    made = directory / f"{archive.name}.elf"
    command = ["ld", "-m", _EMULATION[archive.machine], "-e", "0", "-o", str(made)]
    command += ["--unresolved-symbols=ignore-all", "--allow-multiple-definition"]
    command += [f"--defsym={name}=0" for name in archive.defined]
    tools.run([*command, "--whole-archive", str(path), "--no-whole-archive"])
    return made


def static_cpp_program(directory: Path, machine: str = X86_64) -> Path:
    """A statically linked C++ program: mangled templates, exceptions, glibc's start-up."""
    made = directory / f"static-cpp{machine}.elf"
    source = directory / "static.cpp"
    source.write_text(_CPP_SOURCE)
    subprocess.run(
        ["g++", machine, "-std=c++17", "-O1", "-static", "-o", str(made), str(source)],
        check=True,
        env=tools.environment(),
    )
    return made


def unstripped_files() -> list[Path]:
    """All of them that can be made here, made once on a machine."""
    found = {archive: path for archive in ARCHIVES if (path := archive.path()) is not None}
    recipe = (Path(__file__), compilers("gcc", "g++"), [*map(identity, found.values())])

    def make(place: Path) -> list[Path]:
        return [*(link_whole(archive, place) for archive in found), static_cpp_program(place)]

    return kept(recipe, make)

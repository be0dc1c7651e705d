"""What this release of the distribution has under names that hold versions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from oracles import tools

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")


def only(folder: Path, pattern: str) -> Path:
    """The file of that name; of several the newest: `libperl.so.5.38` before `libperl.so.5.9`."""
    found = sorted(folder.glob(pattern), key=_by_numbers)
    if not found:
        raise FileNotFoundError(f"{folder / pattern}: install the package that has it")
    return found[-1]


def _by_numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]


@cache
def python() -> tuple[int, int]:
    """Major and minor version of the distribution's own Python."""
    said = tools.run(["/usr/bin/python3", "-c", "import sys; print(*sys.version_info[:2])"])
    major, minor = said.split()
    return int(major), int(minor)


def python_archive(suffix: str = "") -> Path:
    """The distribution's Python, complete: `libpython3.11.a`, or with the suffix `-pic` that."""
    version = "{}.{}".format(*python())
    folder = Path(f"/usr/lib/python{version}/config-{version}-x86_64-linux-gnu")
    return folder / f"libpython{version}{suffix}.a"


@cache
def sysroot(triple: str) -> Path:
    """Where a cross compiler has its C library: `/usr/mips-linux-gnu`."""
    said = tools.run([f"{triple}-gcc", "-print-file-name=libc.so.6"]).strip()
    return Path(said).resolve(strict=True).parent.parent


@cache
def clang_for(triple: str) -> tuple[str, ...]:
    """What makes clang compile for another machine with that one's cross compiler's C library, also
    where this was unpacked rather than installed.
    """
    root = tools.run([f"{triple}-gcc", "-print-sysroot"]).strip()
    return (f"--target={triple}", *([] if root in ("", "/") else [f"--sysroot={root}"]))


@cache
def llvm_library() -> Path:
    """The library that clang is made of, a hundred megabytes of code: `libLLVM-14.so.1`."""
    linked = tools.run(["ldd", str(Path("/usr/bin/clang").resolve())])
    name = re.search(r"libLLVM\S* => (\S+)", linked)
    if name is None:
        raise FileNotFoundError("/usr/bin/clang is not linked with libLLVM")
    return Path(name[1])

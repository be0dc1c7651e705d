"""Debian's packages of other architectures, unpacked into a folder: nothing of this machine is
touched. They are those of one release, on whatever release the tests run: the last with MIPS, and
figures that can be compared.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from artifact_cache import kept
from oracles import tools

RELEASE = "bookworm"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
PACKAGES = (
    "bash",
    "dash",
    "gawk",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libgcc-s1",
    "libgmp10",
    "liblua5.4-0",
    "libmpfr6",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libreadline8",
    "libsigsegv2",
    "libsqlite3-0",
    "libstdc++6",
    "libtcl8.6",
    "libtinfo6",
    "lua5.4",
    "perl-base",
    "python3.11-minimal",
    "sqlite3",
    "tcl8.6",
    "zlib1g",
)
QEMU = (
    "qemu-user",
    "libc6",
    "libcapstone4",
    "libffi8",
    "libgcc-s1",
    "libglib2.0-0",
    "libgmp10",
    "libgnutls30",
    "libhogweed6",
    "libidn2-0",
    "libnettle8",
    "libnuma1",
    "libp11-kit0",
    "libpcre2-8-0",
    "libtasn1-6",
    "libunistring2",
    "liburing2",
    "zlib1g",
)
"""The emulator and its libraries, for this machine."""


class RootError(Exception):
    """The packages could not be had."""


@cache
def _archive() -> str:
    """Where this system has its own packages from."""
    words = ["--format", "$(REPO_URI)", "Created-By: Packages", "Component: main", "Origin: Debian"]
    found = tools.run(["apt-get", "indextargets", *words]).split()
    uris = [uri for uri in found if "security" not in uri]
    if not uris:
        raise RootError("apt knows no archive of Debian")
    return uris[0]


def _apt(place: Path, architecture: str, *command: str) -> None:
    state, cache, packages = place / "state", place / "cache", place / "packages"
    for folder in (state / "lists/partial", cache / "archives/partial", packages):
        folder.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    (state / "sources").write_text(f"deb [signed-by={KEYS}] {_archive()} {RELEASE} main\n")
    options = {
        "Dir::Etc::sourcelist": state / "sources",
        "Dir::Etc::sourceparts": "/dev/null",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": cache,
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    done = subprocess.run(
        ["apt-get", "-qq", *words, *command],
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RootError(f"packages for {architecture}: {done.stderr[-2000:]}")


def _make_links_relative(root: Path) -> None:
    """qemu-user looks absolute links up on this machine."""
    for path in root.rglob("*"):
        if path.is_symlink() and path.readlink().is_absolute():
            target = root / path.readlink().relative_to("/")
            path.unlink()
            path.symlink_to(os.path.relpath(target, path.parent))


def unpacked(place: Path, architecture: str, packages: Sequence[str] = PACKAGES) -> Path:
    """Packages in a folder of `place`; RootError without a network."""
    root, work = place / "root", place / "work"
    with suppress(RootError):  # of some list that is not needed, while a mirror is renewed
        _apt(work, architecture, "update")
    _apt(work, architecture, "download", *packages)
    for package in sorted((work / "packages").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    subprocess.run(["rm", "-rf", str(work)], check=True)
    _make_links_relative(root)
    return root


def root_of(architecture: str) -> Path:
    """The sysroot of one of the distribution's architectures; RootError without a network."""
    recipe = ("foreign root", RELEASE, architecture, PACKAGES)
    return kept(recipe, lambda place: unpacked(place, architecture))


@cache
def qemu_with_plugins(name: str) -> tuple[str, ...]:
    """The command of an emulator; RootError without a network.

    Debian 13 links qemu-user statically, so that it loads no plugins: there it is that of RELEASE,
    with its own loader and libraries.
    """
    if re.search(r"^-plugin\b", tools.run([name, "-help"]), re.M):
        return (name,)
    root = kept(("qemu", RELEASE, QEMU), lambda place: unpacked(place, "amd64", QEMU))
    libraries = [str(root / each / "x86_64-linux-gnu") for each in ("lib", "usr/lib")]
    loader = f"{libraries[0]}/ld-linux-x86-64.so.2"
    return (loader, "--library-path", ":".join(libraries), str(root / "usr/bin" / name))

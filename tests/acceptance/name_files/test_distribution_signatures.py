"""Signatures of a distribution's packages, which a stand-in for apt hands over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from oracles.tools import run

from whocall.base.native_module import native

FUNCTION = "int {name}(int n) {{ return n * {factor} + {factor} / (n + 1); }}"
PACKAGES = {
    "libc6-dev": "usr/lib/x86_64-linux-gnu/libc.a",
    "libgcc-9-dev": "usr/lib/gcc/x86_64-linux-gnu/9/libgcc.a",
    "libgcc-12-dev": "usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a",
    "libstdc++-12-dev": "usr/lib/gcc/x86_64-linux-gnu/12/libstdc++.a",
    "libssl-dev": "usr/lib/x86_64-linux-gnu/libssl.a",
    "zlib1g-dev": "usr/lib/x86_64-linux-gnu/libz_nonshared.a",  # which is left out
    "libsqlite3-dev": "usr/lib/x86_64-linux-gnu/libsqlite3.a",
    "musl-dev": "usr/lib/x86_64-linux-musl/libc.a",
}


def _package(name: str, path: str, number: int, folder: Path) -> None:
    """A Debian package with one library of one function."""
    root = folder / name
    library = root / path
    library.parent.mkdir(parents=True)
    word = f"of_{name.replace('-', '_').replace('+', 'p')}"
    source = FUNCTION.format(name=word, factor=1000 + number)
    subprocess.run(
        ["gcc", "-O1", "-c", "-x", "c", "-", "-o", str(folder / "one.o")],
        input=source, text=True, check=True,
    )  # fmt: skip
    run(["ar", "rcs", str(library), str(folder / "one.o")])
    (root / "DEBIAN").mkdir()
    text = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: x\n"
    (root / "DEBIAN/control").write_text(text)
    run(["dpkg-deb", "-b", str(root), str(folder / f"{name}.deb")])


def test_the_newest_of_each(project_root: Path, tmp_path: Path) -> None:
    packages, programs = tmp_path / "packages", tmp_path / "bin"
    packages.mkdir()
    programs.mkdir()
    for number, (name, path) in enumerate(PACKAGES.items()):
        _package(name, path, number, packages)
    (programs / "apt-cache").write_text(
        f"#!/bin/sh\nprintf '%s - what it is\\n' {' '.join(PACKAGES)} | grep -E \"${{3%$}} \"\n"
    )
    (programs / "apt-get").write_text(
        '#!/bin/sh\nwhile [ "$1" != download ]; do shift; done; shift\n'
        f'for each; do cp "{packages}/$each.deb" .; done\n'
    )
    for each in programs.iterdir():
        each.chmod(0o755)
    command = [sys.executable, str(project_root / "scripts/distribution-signatures")]
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    out = tmp_path / "out"
    subprocess.run([*command, "-o", str(out)], env=environment, check=True)
    for name, functions in (("glibc", 5), ("musl", 1)):
        path = out / f"{name}.sig"
        assert native.signature_summary(str(path))["functions"] == functions
        assert b"of_libgcc_9" not in path.read_bytes()

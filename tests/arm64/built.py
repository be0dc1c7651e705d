"""The project for AArch64, by the cross compiler, as a compiler under qemu would take an hour."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arm64 import BUILD, ROOT, Arm64Error
from arm64.root import python


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise Arm64Error(f"{command[0]} failed (see above)")


def _configure(root: Path, place: Path, flags: str) -> None:
    version = python(root)
    suffix = f".cpython-{version.replace('.', '')}-aarch64-linux-gnu.so"
    settings = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "scripts" / "arm64.cmake",
        "WHOCALL_ARM64_ROOT": root,
        "Python_EXECUTABLE": f"/usr/bin/python{version}",  # of this machine: it runs while building
        "Python_INCLUDE_DIR": root / f"usr/include/python{version}",
        "WHOCALL_MODULE_SUFFIX": suffix,
        "CMAKE_MAKE_PROGRAM": "/usr/bin/ninja",
        "WHOCALL_UNITY": "ON",  # made fast rather than fast to run
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": flags,
        "CMAKE_C_FLAGS_RELWITHDEBINFO": flags,
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    _checked(["/usr/bin/cmake", "--preset", "release", "-B", str(place), *options])


def build(
    root: Path,
    place: Path = BUILD,
    flags: str = "-O1 -DNDEBUG",
    targets: Sequence[str] = ("whocall", "whocall_tests"),
) -> None:
    """The module, its plugins, libwhocall and the native tests; raises Arm64Error."""
    configured = place / "arm64-root"
    stamp = f"{root} {root.stat().st_ctime_ns}"
    if not configured.exists() or configured.read_text() != stamp:
        _configure(root, place, flags)
        configured.write_text(stamp)
    jobs = os.environ.get("WHOCALL_JOBS") or str(os.cpu_count() or 2)
    _checked(["/usr/bin/ninja", "-C", str(place), "-j", jobs, *targets])

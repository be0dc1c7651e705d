"""What whocall_capture costs beside its peers: 20 frames, by unwind tables and by frame pointers.

    WHOCALL_BUILD_DIR=build/release python3 tests/bench/capture_cost.py

All in one process and in turns, the least of 40 rounds, processor time. Peers that are not
installed (libunwind-dev, libabsl-dev, libboost-stacktrace-dev) are left out, and named.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).parent / "capture" / "capture.cpp"
LIBRARIES = Path(os.environ.get("WHOCALL_BUILD_DIR", ROOT / "build" / "release")) / "whocall"
PEERS = {
    "libunwind": ("libunwind.h", ["-DWITH_LIBUNWIND"], ["-lunwind"]),
    "abseil": (
        "absl/debugging/stacktrace.h",
        ["-DWITH_ABSEIL"],
        ["-labsl_stacktrace", "-labsl_debugging_internal", "-labsl_raw_logging_internal"],
    ),
    "boost": ("boost/stacktrace/safe_dump_to.hpp", ["-DWITH_BOOST"], ["-ldl"]),
}
BUILDS = {
    "with unwind tables, without frame pointers": ["-fomit-frame-pointer"],
    "with both": ["-fno-omit-frame-pointer", "-DWITH_FRAME_POINTERS"],
}


def build(folder: Path, flags: list[str], peers: list[str]) -> Path:
    """The program with those of the peers that there are."""
    made = folder / "capture"
    defines, libraries = [], []
    for name in peers:
        header, define, linked = PEERS[name]
        if any(Path("/usr/include").glob(f"{place}{header}") for place in ("", "*-linux-gnu/")):
            defines += define
            libraries += linked
        else:
            print(f"not installed: {name}")
    base = ["g++", "-std=c++20", "-O2", f"-I{ROOT / 'native' / 'runtime'}", *flags, *defines]
    ours = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lwhocall"]
    subprocess.run([*base, SOURCE, "-o", made, *ours, *libraries], check=True)
    return made


def main() -> None:
    """Print a table for each build; libunwind has one of its own, as it takes others' places."""
    for title, flags in BUILDS.items():
        for peers in (["abseil", "boost"], ["libunwind"]):
            with tempfile.TemporaryDirectory() as folder:
                program = build(Path(folder), flags, peers)
                said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
            rows = [line.split("\t") for line in said.splitlines()]
            ours = float(rows[0][1])
            print(f"\n{title}; {', '.join(peers)}\n{'':28} {'ns':>8} {'frames':>7} {'of ours':>8}")
            for name, cost, frames in rows:
                if name.startswith("glibc") and "libunwind" in peers:
                    continue  # libunwind's, under that name
                print(f"{name:28} {cost:>8} {frames:>7} {float(cost) / ours:>8.1f}")


if __name__ == "__main__":
    main()

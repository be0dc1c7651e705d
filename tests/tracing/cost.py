"""What a call costs: with hooks that do nothing, with ours, and recorded by uftrace.

`python3 tests/tracing/cost.py` prints one table; no part of tests/run. uftrace: Debian's package.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from tracing.lab import HOOKS, PROGRAMS, SHARED  # noqa: E402

ROUNDS = 5
CALLS = 5_000_000
OF_UFTRACE = 2_000_000  # it writes them to disk


def _compile(folder: Path, name: str, *flags: str | Path) -> Path:
    made = folder / name
    words = ["gcc", "-O2", "-g", PROGRAMS / "cost.c", *flags, "-pthread", "-o", made]
    subprocess.run([str(word) for word in words], check=True)
    return made


def _compile_entries(folder: Path, name: str, *flags: str) -> Path:
    """With hooks at beginnings alone, and linked without what gprof wants."""
    made = folder / name
    source = str(PROGRAMS / "cost.c")
    subprocess.run(["gcc", "-O2", "-g", *flags, "-c", source, "-o", f"{made}.o"], check=True)
    link = ["gcc", f"{made}.o", str(SHARED), f"-Wl,-rpath,{SHARED.parent}", "-pthread"]
    subprocess.run([*link, "-o", str(made)], check=True)
    return made


def _cost(command: list[str], calls: int, folder: Path, **settings: str) -> float:
    """Nanoseconds of processor time for a call, without those of the loop around it."""
    ran = subprocess.run(
        [*command, str(calls)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout.split()[-1])


def main() -> int:
    """Builds, measures in turns, prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = folder / "libempty.so"
        shared = ["gcc", "-O2", "-shared", "-fPIC", str(PROGRAMS / "empty.c"), "-o", str(empty)]
        subprocess.run(shared, check=True)
        ours = _compile(folder, "ours", HOOKS, SHARED, f"-Wl,-rpath,{SHARED.parent}")
        recorded = ["uftrace", "record", "--no-libcall", "-d", str(folder / "data")]
        rows: dict[str, tuple[list[str], int, dict[str, str]]] = {
            "no hooks": ([str(_compile(folder, "plain"))], CALLS, {}),
            "empty hooks": (
                [str(_compile(folder, "empty", HOOKS, empty, f"-Wl,-rpath,{folder}"))], CALLS, {}
            ),
            "libwhocall-trace": ([str(ours)], CALLS, {}),
            "libwhocall-trace, `-pg`": ([str(_compile_entries(folder, "pg", "-pg"))], CALLS, {}),
            "libwhocall-trace, `-pg -mfentry`": (
                [str(_compile_entries(folder, "fentry", "-pg", "-mfentry"))], CALLS, {}
            ),
            "libwhocall-trace, stacks alone": ([str(ours)], CALLS, {"WHOCALL_TRACE": "stacks"}),
            "libwhocall-trace, off": ([str(ours)], CALLS, {"WHOCALL_TRACE": "off"}),
            "uftrace, -finstrument-functions": (
                [*recorded, str(_compile(folder, "instrumented", HOOKS))], OF_UFTRACE, {}
            ),
            "uftrace, -pg": ([*recorded, str(_compile(folder, "pg", "-pg"))], OF_UFTRACE, {}),
            "uftrace, -pg -mfentry": (
                [*recorded, str(_compile(folder, "fentry", "-pg", "-mfentry"))], OF_UFTRACE, {}
            ),
        }  # fmt: skip
        least = dict.fromkeys(rows, float("inf"))
        for _ in range(ROUNDS):
            for row, (command, calls, settings) in rows.items():
                cost = _cost(command, calls, folder, **settings)
                least[row] = min(least[row], cost)
    print("| | a call | above empty hooks |\n|---|---|---|")
    for row, cost in least.items():
        above = cost - least["empty hooks"]
        print(f"| {row} | {cost:.1f} ns | {f'{above:.1f} ns' if above > 0 else ''} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

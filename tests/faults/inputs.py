"""What commands read that is neither a core nor a program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

TRACED = "void inner(void) {}\nvoid outer(void) { inner(); }\nint main(void) { outer(); }\n"


def recorded(folder: Path, source: str = TRACED) -> Path:
    """What an instrumented program recorded."""
    libraries = Path(os.environ["WHOCALL_BUILD_DIR"]) / "whocall"
    (folder / "traced.c").write_text(source)
    subprocess.run(
        ["gcc", "-finstrument-functions", "traced.c", "-o", "traced", f"-L{libraries}",
         "-lwhocall-trace", f"-Wl,-rpath,{libraries}"],
        cwd=folder, check=True,
    )  # fmt: skip
    made = folder / "calls"
    environment = {**os.environ, "WHOCALL_TRACE_FILE": str(made)}
    subprocess.run([folder / "traced"], env=environment, check=True)
    return made


def built_archive(folder: Path) -> Path:
    """A static library."""
    source = "int sum(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * i;"
    (folder / "sum.c").write_text(f"{source} return s; }}\n")
    subprocess.run(["gcc", "-O2", "-c", "sum.c"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libsum.a", "sum.o"], cwd=folder, check=True)
    return folder / "libsum.a"

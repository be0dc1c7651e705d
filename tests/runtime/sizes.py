"""What libwhocall adds to a program, in bytes: as it is built, and for products with little room.

`python3 -m runtime.sizes` in `tests` writes the table into docs/crash.md; test_sizes.py holds it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "crash.md"
SMALL = ("-DCMAKE_BUILD_TYPE=MinSizeRel", "-DWHOCALL_RULES=512")
BUILDS = {
    "x86-64": ("", ()),
    "x86-64, small": ("", SMALL),
    "ARM, small": ("arm-linux-gnueabihf-", SMALL),
}
USES = {
    "`whocall_capture`": "void *at[9]; return (int)whocall_capture(at, 9);",
    "`who_call_me`": "return who_call_me(0);",
    "`whocall_install`": "return whocall_install(0);",
}
NOTHING = "return 0;"
HEADING = "| text / data / bss, KiB | " + " | ".join(BUILDS) + " |"

Size = tuple[int, ...]  # text, data, bss


def _run(*words: object, text: str | None = None) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def size_of(file: Path) -> Size:
    """By `size`, of an ELF file of any machine that binutils know."""
    return tuple(int(word) for word in _run("size", file).splitlines()[1].split()[:3])


def _program(body: str, triple: str, library: Path, folder: Path) -> Size:
    out = folder / "program"
    source = f"#include <whocall.h>\nint main(void) {{ {body} }}\n"
    words = [f"{triple}gcc", "-Os", f"-I{ROOT}/native/runtime", "-x", "c", "-", "-x", "none"]
    _run(*words, library, "-Wl,--gc-sections", "-o", out, text=source)
    return size_of(out)


def measured(build: str, folder: Path) -> dict[str, Size]:
    """What each use of the static library adds to a program, and the library for LD_PRELOAD."""
    triple, options = BUILDS[build]
    compilers = [f"-DCMAKE_C_COMPILER={triple}gcc", f"-DCMAKE_CXX_COMPILER={triple}g++"]
    _run("cmake", "-G", "Ninja", "-S", ROOT / "native/runtime", "-B", folder, *compilers, *options)
    _run("cmake", "--build", folder, "--target", "whocall_static", "whocall_crash")
    library = folder / "libwhocall.a"
    bare = _program(NOTHING, triple, library, folder)
    found: dict[str, Size] = {}
    for name, body in USES.items():
        used = _program(body, triple, library, folder)
        found[name] = tuple(one - other for one, other in zip(used, bare))
    found["`libwhocall-crash.so`"] = size_of(folder / "libwhocall-crash.so")
    return found


def _kib(size: Size) -> str:
    return " / ".join(f"{max(each, 0) / 1024:.1f}" for each in size)


def table(found: dict[str, dict[str, Size]]) -> str:
    """Rows of the page: by build, by use."""
    lines = [HEADING, "|---" * (len(BUILDS) + 1) + "|"]
    for use in next(iter(found.values())):
        lines.append(
            " | ".join([f"| {use}", *(_kib(found[build][use]) for build in BUILDS)]) + " |"
        )
    return "\n".join(lines) + "\n"


def told() -> dict[str, dict[str, tuple[float, ...]]]:
    """What the page says, in KiB: by build, by use."""
    rows = PAGE.read_text(encoding="utf-8").partition(HEADING)[2].splitlines()[2 : 3 + len(USES)]
    found: dict[str, dict[str, tuple[float, ...]]] = {build: {} for build in BUILDS}
    for row in rows:
        use, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for build, cell in zip(BUILDS, cells):
            found[build][use] = tuple(float(word) for word in cell.split(" / "))
    return found


def main() -> int:
    """Writes the table."""
    found = {}
    for build in BUILDS:
        with tempfile.TemporaryDirectory(prefix="whocall-sizes-") as folder:
            found[build] = measured(build, Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    old = re.compile(re.escape(HEADING) + r"\n(\|.*\n)+")
    PAGE.write_text(old.sub(lambda _: table(found), text), encoding="utf-8")
    sys.stdout.write(table(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

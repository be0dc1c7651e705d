"""Files are opened at one place each for reading and for writing: nothing goes around those doors.

A path may come from a core, an image or a store that somebody else made; what lies there may be a
fifo or a device. So an opening anywhere else is a fault, but for files that are ours beyond doubt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrows import native_files

# Calls that open a file: of modules, and of anything that may be a path.
FUNCTIONS = {"open", "io.open", "io.FileIO", "os.open", "shutil.copyfile", "shutil.copy",
             "tarfile.open", "gzip.open", "sqlite3.connect", "tempfile.mkstemp",
             "tempfile.NamedTemporaryFile", "FileIO"}  # fmt: skip
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "open"}
# Objects whose open() is no file's.
OTHERS = {"self.files", "files", "webbrowser"}
# Who opens files by itself, and which.
ALLOWED = {
    "base/regular_file.py": "the door for reading",
    "base/output_file.py": "the door for writing",
    "base/stale_files.py": "what is half written, to be locked and never read",
    "repair/symbol_cache.py": "files in the user's own cache, looked at after they are open",
    "receiving/store.py": "files without a name in a folder that the user named",
    "receiving/told.py": "/proc of a process that has crashed",
    "tracing/follow.py": "/proc of the process that is traced",
    "triage/store.py": "the store, which is made for the user alone",
    "triage/tables.py": "the store, which SQLite opens after it was looked at",
    "triage/facts.py": "a table in the user's own cache, looked at before",
    "triage/work.py": "notes in a folder that was made for them, and /dev/null",
    "triage/workers.py": "the same notes",
    "triage/page.py": "whocall's own template",
    "report/page/writing.py": "whocall's own templates",
    "shared_front_end/pythons.py": "what the build wrote beside the module",
    "gdb/target/live.py": "/proc of the process that is debugged",
    "gdb/host/output.py": "/proc of this process",
    "gdb/host/invocation.py": "/proc of this process",
    "container_images/image_root.py": "files in a folder that was made for them",
    "cli/streams.py": "/dev/null",
    "cli/outside_sandbox.py": "/dev/null",
    "gdb_helper/worker.py": "/dev/null",
    "gdb_helper/helper.py": "/dev/null",
    "base/limits.py": "/proc of this process",
}
# Of open(2) with its two arguments; functions of ours that are called so take a path alone.
OPENING_NATIVE = re.compile(
    r"(?<![\w.>])(?<!\w::)(?:::)?open(?:at)?\((?!const |DebugInfoFile )[^;]*,"
    r"|\bfopen\(|\bi?fstream\b(?!>)"
)
NATIVE = {
    "base/regular_file.cpp": "the door for reading",
    "base/landlock.cpp": "files as places, to be written in later (O_PATH)",
    "runtime/trusted_file.cpp": "libwhocall's door for reading",
    "runtime/privilege.h": "libwhocall's door for writing",
    "runtime/lines_of_file.cpp": "/proc of this process",
    "runtime/crash/other_threads.cpp": "/proc of this process",
    "runtime/trace/file.c": "/proc of this process",
    "runtime/trace/holder.c": "/proc of a process",
    "symbols/fact_cache.cpp": "files in the user's own cache, looked at after they are open",
    "memory/process_memory.cpp": "/proc of a process",
    "process/live/live_process.cpp": "/proc of a process",
    "process/proc_files.cpp": "/proc of a process",
}


def calls_that_open(source: str) -> Iterator[int]:
    """Lines."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if name in FUNCTIONS or (last in METHODS and owner not in OTHERS):
            yield node.lineno


def native_openings(source: str) -> Iterator[int]:
    for number, line in enumerate(source.splitlines(), 1):
        code = line.split("//")[0]
        if OPENING_NATIVE.search(code):
            yield number


def test_python_opens_files_at_its_doors(project_root: Path) -> None:
    package = project_root / "gdbext" / "whocall"
    found = [
        f"{path.relative_to(package)}:{line}"
        for path in sorted(package.rglob("*.py"))
        if str(path.relative_to(package)) not in ALLOWED
        for line in calls_that_open(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_native_code_opens_files_at_its_door(project_root: Path) -> None:
    native = project_root / "native"
    found = [
        f"{path.relative_to(native)}:{line}"
        for path in native_files(native)
        if str(path.relative_to(native)) not in NATIVE and path.suffix in (".cpp", ".c", ".h")
        for line in native_openings(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    ['open(path, "rb")', "os.open(path, os.O_RDONLY)", "Path(path).read_text()",
     'Path(path).open("rb")', "io.FileIO(path)", "shutil.copyfile(path, other)"],
)  # fmt: skip
def test_a_planted_opening_is_seen(planted: str) -> None:
    assert list(calls_that_open(f"def planted(path):\n    return {planted}\n")) == [2]


@pytest.mark.parametrize(
    "planted",
    ["int f = ::open(path, O_RDONLY);", "const int f = open(path, O_RDONLY);",
     "std::ifstream file(path);", 'std::fopen(path, "re");', "const Descriptor d(open(p, 0));"],
)  # fmt: skip
def test_a_planted_opening_of_native_code_is_seen(planted: str) -> None:
    assert list(native_openings(f"// text\n{planted}\n")) == [2]

"""`whocall repair` where all that is left of a module is the debug file of its build."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from programs import Crash, compiled, dump
from sessions import batch

LIBRARY = """
__attribute__((noinline)) int inner(volatile int *p) { return *p; }
__attribute__((noinline)) int outer(volatile int *p) { return inner(p) + 1; }
"""
PROGRAM = """
#include <dlfcn.h>
int main(void) {
  dlopen("%s", RTLD_NOW);
  int (*outer)(volatile int *) = (int (*)(volatile int *))dlsym(dlopen("%s", RTLD_NOW), "outer");
  return outer(0) + 1; }
"""


def test_a_copy_of_a_library_that_gdb_has_with_its_debug_file(tmp_path: Path) -> None:
    """A debug file cannot be given one itself: gdb's own assertion would end it."""
    library = compiled(tmp_path, "libkept.so", LIBRARY, "-O1 -g -shared -fPIC")
    notes = subprocess.run(["readelf", "-n", library], capture_output=True, text=True, check=True)
    build_id = notes.stdout.split("Build ID: ")[1].split()[0]
    debug = tmp_path / "debug" / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["strip", library], check=True)
    copy = Path(shutil.copy(library, tmp_path / "libcopy.so"))
    crash = Crash(tmp_path / "program", tmp_path / "program.twin", tmp_path / "program.dump")
    compiled(tmp_path, "program.twin", PROGRAM % (library, copy), "-O1 -ldl")
    subprocess.run(["strip", "-o", crash.exe, crash.twin], check=True)
    dump(crash)
    copy.unlink()
    said = batch(
        [
            f"set debug-file-directory {tmp_path / 'debug'}",
            f"file {crash.exe}",
            f"core-file {crash.core}",
            "whocall repair",
            "bt",
            "whocall revert",
            "info threads",
        ]
    )
    assert said.status == 0, said
    assert "inner" in said.out and "outer" in said.out
    assert "its own frames again" in said.out

"""Files of running processes: in a root directory of their own, and deleted or replaced since."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from oracles.tools import environment
from places import mounts
from places.needs import ATTACHING, OWN_MOUNTS, OWN_ROOT, as_root

from acceptance.modules.module_crashes import (
    SCRIPT,
    answer,
    build_directory,
    build_id,
    compiled,
    modules,
    stripped,
)

pytestmark = pytest.mark.needs(ATTACHING)

PAUSING = r"""
#include <unistd.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
static OUT_OF_LINE int %(name)s(int v) { for (;;) pause(); return v; }
OUT_OF_LINE int waiting(int v) { return %(name)s(v) + 1; }
int main(int count, char **words) { (void)words; return waiting(count) + 2; }
"""


def build(directory: Path, name: str, *flags: str) -> Path:
    """A program that waits in a function of this name, unstripped."""
    flags = ("-fasynchronous-unwind-tables", *flags)
    return compiled(PAUSING % {"name": name}, directory / f"twin-{name}", *flags)


@contextmanager
def waiting(command: list[str], **more: Any) -> Iterator[int]:
    """The id of a process that has come to its pause."""
    with subprocess.Popen(command, **more) as process:
        try:
            deadline = time.monotonic() + 60
            while "pause" not in Path(f"/proc/{process.pid}/wchan").read_text() and not _pauses(
                process.pid
            ):
                assert process.poll() is None, command
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield process.pid
        finally:
            process.kill()


def _pauses(pid: int) -> bool:
    """Whether it is in the system call pause (34 on x86-64, 29 on i386)."""
    try:
        return Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("34", "29")
    except (OSError, IndexError):
        return False


def names(pid: int, *options: str) -> list[str | None]:
    """Of the chain that the command line prints."""
    document = answer("bt", "--pid", str(pid), *options)
    return [frame["function"] for frame in document["threads"][0]["frames"]]


def in_gdb(pid: int, *arguments: str | Path) -> dict[str, Any]:
    """`whocall bt -json` and `whocall modules -json` of a process that gdb attaches to."""
    line = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    line += ["-ex", f"source {SCRIPT}", "-ex", "echo {bt}", "-ex", "whocall bt -json"]
    line += ["-ex", "echo {modules}", "-ex", "whocall modules -json", "-ex", "echo {end}"]
    ran = subprocess.run(
        [*line, *map(str, arguments), "-p", str(pid)],
        env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    trace, rest = ran.stdout.split("{bt}")[1].split("{modules}")
    return {
        "names": [frame["function"] for frame in json.loads(trace)["threads"][0]["frames"]],
        "modules": modules(json.loads(rest.split("{end}")[0])),
        "stderr": ran.stderr,
    }


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("chroot", marks=pytest.mark.needs(OWN_ROOT)),
        pytest.param("mount namespace", marks=pytest.mark.needs(OWN_MOUNTS)),
    ],
)
def test_a_process_with_a_root_of_its_own(kind: str, tmp_path: Path) -> None:
    """At the same path, in our root directory, lies another build."""
    name = "hidden_in_container"
    twin = build(tmp_path, name, "-static")
    other = build(tmp_path, "hidden_outside", "-static", "-DOTHER=1")
    assert build_id(twin) != build_id(other)
    place = tmp_path / "place"
    place.mkdir()
    program = place / "prog"
    program.write_bytes(other.read_bytes())
    program.chmod(0o755)
    inside = tmp_path / "root" / str(program).lstrip("/")
    inside.parent.mkdir(parents=True)
    inside.write_bytes(twin.read_bytes())
    inside.chmod(0o755)
    if kind == "chroot":
        command = [*as_root(), "chroot", str(tmp_path / "root"), str(program)]
    else:
        alone = [sys.executable, mounts.__file__, "sh", "-c"]
        command = [*alone, f"mount --bind {inside.parent} {place} && exec {program}"]
    with waiting(command) as pid:
        found = modules(answer_modules(pid))["prog"]
        assert found["state"] == "found"
        inside_path = str(inside) if kind == "chroot" else f"/proc/{pid}/root{program}"
        assert found["file"] == inside_path
        assert found["build_id_on_disk"] == build_id(twin)
        assert name in names(pid)
        asked = in_gdb(pid)
        assert asked["modules"]["prog"]["state"] == "found"
        assert asked["modules"]["prog"]["build_id_on_disk"] == build_id(twin)
        assert name in asked["names"]
        assert "MISMATCH" not in asked["stderr"]
        assert "cannot be opened" not in asked["stderr"]


def answer_modules(pid: int) -> dict[str, Any]:
    """What `whocall modules` would say of a process: the command line takes cores only."""
    from whocall import open_process
    from whocall.report.tables.modules import Advice, all_facts, modules_json

    with open_process(pid) as image:
        return modules_json(image, all_facts(image), Advice("--search DIR", "--debuginfod"))


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
def test_a_program_deleted_or_replaced_while_it_runs(fate: str, tmp_path: Path) -> None:
    """The kernel keeps the file that runs: its names are right, those of the new one are not."""
    twin = build(tmp_path, "hidden_before")
    other = build(tmp_path, "hidden_after", "-DOTHER=1", "-O2")
    program = tmp_path / "prog"
    program.write_bytes(twin.read_bytes())
    program.chmod(0o755)
    with waiting([str(program)]) as pid:
        program.unlink()
        if fate == "replaced":
            program.write_bytes(other.read_bytes())
            program.chmod(0o755)
        assert "hidden_before" in names(pid)
        [found] = [each for each in answer_modules(pid)["modules"] if each["is_executable"]]
        assert found["state"] == "found"
        assert found["build_id_on_disk"] == build_id(twin)
        assert "deleted or replaced" in found["remark"]
        asked = in_gdb(pid)
        assert "hidden_before" in asked["names"]
        assert "hidden_after" not in asked["names"]


LIBRARY = r"""
#include <unistd.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
static OUT_OF_LINE int %(name)s(int v) { for (;;) pause(); return v; }
OUT_OF_LINE int library_waiting(int v) { return %(name)s(v) + 1; }
"""
USER = """
int library_waiting(int v);
int main(int count, char **words) { (void)words; return library_waiting(count) + 2; }
"""


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
def test_a_library_deleted_or_replaced_while_it_is_used(fate: str, tmp_path: Path) -> None:
    """As a package manager does it, under a daemon that it does not restart."""
    flags = ("-shared", "-fPIC", "-Wl,-soname,libwait.so")
    twin = compiled(LIBRARY % {"name": "hidden_before"}, tmp_path / "twins" / "libwait.so", *flags)
    moved = "int before(int v) { while (v > 9) v /= 3; return v; }\n"
    other = compiled(
        moved + LIBRARY % {"name": "hidden_after"}, tmp_path / "others" / "libwait.so", *flags
    )
    path = tmp_path / "libwait.so"
    path.write_bytes(twin.read_bytes())
    program = compiled(USER, tmp_path / "prog", f"-Wl,-rpath,{tmp_path}", with_files=[path])
    with waiting([str(program)]) as pid:
        path.unlink()
        if fate == "replaced":
            path.write_bytes(other.read_bytes())
        found = modules(answer_modules(pid))
        [module] = [each for name, each in found.items() if name.startswith("libwait.so")]
        assert module["state"] in ("found", "in memory")  # the latter where we are not root
        shown = names(pid)
        assert "hidden_after" not in shown
        assert "library_waiting" in shown
        if module["state"] == "found":
            assert "hidden_before" in shown
        asked = in_gdb(pid)
        assert "hidden_after" not in asked["names"]
        assert "library_waiting" in asked["names"]


def test_stripped_twins_agree(tmp_path: Path) -> None:
    """What is stripped keeps its build id: the tests above stand on it."""
    twin = build(tmp_path, "hidden_before")
    assert build_id(stripped(twin, tmp_path / "bare")) == build_id(twin)

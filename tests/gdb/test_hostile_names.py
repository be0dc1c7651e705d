"""Names of files that are commands: none is obeyed, and gdb lives on."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from hostile import NAMES, PROOF, Hostile, hostile
from sessions import GDB, SCRIPT, environment

FORGED, OWN = "a user's", "systemd-coredump's"


@pytest.fixture(scope="module", params=NAMES)
def crash(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return hostile(tmp_path_factory.mktemp("hostile"), NAMES[request.param])


def is_one_line(path: Path) -> bool:
    """Whether gdb can be given it."""
    return str(path).isprintable()


def test_a_proof_would_be_seen(tmp_path: Path) -> None:
    """What all of this stands on: gdb obeys each line of a string."""
    crash = hostile(tmp_path, NAMES["line"])
    with pytest.raises(AssertionError):
        crash.in_gdb([f"python gdb.execute('file ' + {str(crash.exe)!r})"])
    assert crash.proven()


def test_repair_and_revert(crash: Hostile) -> None:
    commands = ["whocall repair", "bt", "whocall compare", "whocall repair -all", "whocall revert"]
    said = crash.in_gdb([*commands, "info sharedlibrary"], "-c", crash.plain)
    assert "whocall" not in said.err or not is_one_line(crash.exe), said.err


@pytest.mark.parametrize("kind", ["line", "option", "quote"])
def test_where_another_python_works(kind: str, foreign: Path, tmp_path: Path) -> None:
    crash = hostile(tmp_path, NAMES[kind])
    commands = ["whocall bt", "whocall repair", "whocall compare", "whocall revert"]
    crash.in_gdb(commands, "-c", crash.plain, script=foreign)
    crash.in_gdb([f"whocall open {packed(crash)}", *commands], script=foreign)


def test_auto_repair(crash: Hostile) -> None:
    core = ["set whocall auto-repair on", f"core-file {crash.plain}", "bt", "whocall revert"]
    crash.in_gdb([*core, "whocall repair", "bt"])
    # Another core behind it: what was added for this one is removed.
    crash.in_gdb(["whocall repair", f"core-file {crash.plain}", "whocall repair"], crash.plain)


def packed(crash: Hostile) -> Path:
    file = crash.folder / "packed.zst"
    subprocess.run(["zstd", "-q", "-f", "-o", file, crash.plain.resolve()], check=True)
    return file


def test_what_is_opened(crash: Hostile) -> None:
    for file in (crash.plain, packed(crash)):
        said = crash.in_gdb([f"whocall open {file}", "whocall bt"])
        assert "using" in said.out or "#2" in said.out, said
    if not is_one_line(crash.exe):
        assert "has a " in said.err and "gdb is given no program" in said.err, said.err


def test_a_core_and_a_program_that_the_user_names(crash: Hostile) -> None:
    """By way of gdb's own quoting: those that gdb can be given are opened, the others told."""
    core, exe = crash.core, crash.exe
    words = " ".join("'" + str(path).replace("'", "'\\''") + "'" for path in (core, exe))
    if "\n" in words:
        return  # nobody can type that
    said = crash.in_gdb([f"whocall open {words}", "info threads"])
    refused = "ends in a blank" in said.err or "has a carriage return" in said.err
    if is_one_line(core) and core.name == core.name.rstrip():
        assert not refused
    assert refused or "LWP" in said.out or "process" in said.out, said


def test_outside_gdb(crash: Hostile) -> None:
    """Also below a root and beside a folder of such names."""
    root = crash.folder / "roots" / crash.exe.name
    root.mkdir(parents=True)
    crash.outside("compare", crash.core, GDB=GDB)
    crash.outside("report", "--json", crash.plain, GDB=GDB)
    crash.outside("compare", "--sysroot", root, crash.plain, GDB=GDB)
    crash.outside("compare", "--search", root, crash.plain, GDB=GDB)


def renamed_in_note(core: bytes, old: Path, new: str) -> bytes:
    """The core with another name of the same length in NT_FILE."""
    assert len(new) == len(str(old))
    return core.replace(f"{old}\0".encode(), f"{new}\0".encode())


def with_a_relative_name(folder: Path, kind: str) -> Hostile:
    """A core may call its program by a name that is no path, and bring such a file with it."""
    crash = hostile(folder, "a long name" * 5)
    name = f"{NAMES[kind]} #".ljust(len(str(crash.exe)), "x")
    crash.core.write_bytes(renamed_in_note(crash.core.read_bytes(), crash.exe, name))
    (folder / name).write_bytes(crash.exe.read_bytes())
    return crash


@pytest.mark.parametrize("kind", ["option", "pipe", "substitution"])
def test_a_relative_name(kind: str, tmp_path: Path) -> None:
    crash = with_a_relative_name(tmp_path, kind)
    for command in (["compare"], ["report", "--json"]):
        crash.outside(*command, crash.plain, GDB=GDB)
    crash.in_gdb(["whocall repair", "whocall revert"], "-c", crash.plain)
    crash.in_gdb([f"whocall open {crash.plain}", "whocall repair", "whocall compare"])


@pytest.mark.parametrize("kind", ["line", "option"])
def test_served_pages(kind: str, tmp_path: Path) -> None:
    make = with_a_relative_name if kind == "option" else lambda at, kind: hostile(at, NAMES[kind])
    crash = make(tmp_path, kind)
    command = [sys.executable, SCRIPT, "serve", "--gdb", "--port", "0", crash.core.parent]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(GDB=GDB), stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            root = server.stdout.readline().split()[0]
            with urlopen(root, timeout=60) as answer:
                links = re.findall(r'href="([^"]*report[^"]*)"', answer.read().decode())
            assert links
            for link in links:
                with urlopen(urljoin(root, html.unescape(link)), timeout=60) as answer:
                    assert "gdb" in answer.read().decode()
        finally:
            server.terminate()
    assert not crash.proven()


def journal(folder: Path, *entries: dict[str, str]) -> str:
    """A search path whose journalctl tells these entries."""
    text = "\n".join(map(json.dumps, entries))
    program = folder / "bin" / "journalctl"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable}\nprint({text!r})\n")
    program.chmod(0o755)
    return f"{program.parent}:/usr/bin:/bin"


def test_the_newest_crash_of_the_journal(crash: Hostile) -> None:
    entry = {"COREDUMP_FILENAME": str(crash.core), "COREDUMP_TIMESTAMP": "1700000000000000"}
    forged = {**entry, "_UID": "1000", "_SYSTEMD_UNIT": "user@1000.service"}
    path = journal(crash.folder, forged)
    said = crash.in_gdb(["whocall open -last"], PATH=path)
    assert "1 of the journal's entries on crashes is not known to be" in said.err, said.err
    own = {**entry, "_UID": "1000", "_SYSTEMD_UNIT": "systemd-coredump@1-77-0.service"}
    path = journal(crash.folder, own)
    said = crash.in_gdb(["whocall open -last", "whocall bt"], PATH=path)
    told = "#1 " in said.out or "has a " in said.err or "ends in a blank" in said.err
    assert told and "journal's entries" not in said.err, said


def test_the_working_directory_is_not_read(tmp_path: Path) -> None:
    """Neither gdb's files nor Python's modules, which lie where somebody has unpacked a core."""
    crash = hostile(tmp_path, "plain")
    (tmp_path / ".gdbinit").write_text(f"shell touch {PROOF}\n")
    script = f"import pathlib; pathlib.Path({str(tmp_path / PROOF)!r}).touch()\n"
    for name in ("json", "whocall", "gdb", "re", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text(script)
    for auto in (f"{crash.exe}-gdb.py", f"{crash.library}-gdb.py"):
        Path(auto).write_text(script)
    Path(f"{crash.exe}-gdb.gdb").write_text(f"shell touch {PROOF}\n")
    said = crash.outside("compare", crash.core, GDB=GDB)
    assert said.status in (0, 1) and "gdb" in said.out, said
    if sys.version_info >= (3, 11):  # older ones cannot be told so
        said = crash.outside("triage", "--jobs", "2", crash.core.parent)
        assert said.status == 0, said

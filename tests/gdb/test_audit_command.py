"""`whocall audit` in gdb: which file, completion, errors, Ctrl-C."""

from __future__ import annotations

import json
from pathlib import Path

import pexpect
import pytest
from answers import document, text
from programs import CHAIN, Crash, build
from sessions import batch
from terminals import PROMPT, terminal

IN_LIBC = (
    "python\nf = gdb.newest_frame()\n"
    "while 'libc.so' not in (gdb.solib_name(f.pc()) or ''): f = f.older()\n"
    "f.select()"
)


def libc_of(crash: Crash) -> str:
    said = batch([IN_LIBC, "python print(gdb.solib_name(gdb.selected_frame().pc()))"],
                 [crash.exe, crash.core])  # fmt: skip
    return said.out.splitlines()[-1]


def test_the_module_of_the_selected_frame(chain: Crash) -> None:
    assert document("whocall audit -json", chain)["file"] == str(chain.exe)
    found = document("whocall audit -json -limit 3", chain, IN_LIBC)
    assert Path(found["file"]).samefile(libc_of(chain))
    assert len(found["differences"]) <= 3
    assert found["calls"]["places"] > 10000


def test_a_file_by_name(chain: Crash) -> None:
    lines = text(f"whocall audit {libc_of(chain)}", chain)
    assert lines[0].startswith(f"{libc_of(chain)}: ")
    assert lines[-1].startswith("Of ")


def test_without_a_process_the_program_is_audited(chain: Crash) -> None:
    said = batch(["whocall audit -json"], [chain.exe])
    assert said.status == 0, said.err
    assert json.loads(said.out)["file"] == str(chain.exe)


def test_names_with_blanks_are_quoted(chain: Crash, tmp_path: Path) -> None:
    path = tmp_path / "a name"
    path.symlink_to(chain.exe)
    said = batch([f'whocall audit -limit 0 "{path}"'])
    assert said.out.startswith(f"{path}: ")


def test_the_file_of_the_selected_frame_is_missing(tmp_path: Path) -> None:
    crash = build(tmp_path, "lost", CHAIN)
    crash.exe.unlink()
    said = batch(["whocall audit"], ["--core", crash.core])
    assert said.status == 1
    assert 'Name one: "whocall audit FILE".' in said.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("whocall audit", 'There is no program to audit.  Name a file: "whocall audit FILE".'),
        ("whocall audit /nowhere/file", "/nowhere/file: cannot be opened"),
        ("whocall audit /etc/passwd", "is not an ELF file"),
        ("whocall audit /usr", "is a directory"),
        ("whocall audit /bin/true /bin/false", "cannot do anything with"),
        ("whocall audit -limit x /bin/true", "-limit takes a number"),
        ("whocall audit -limit", "must be followed by N"),
        ("whocall audit -nonsense", "its options: -json and -limit"),
    ],
)
def test_errors_are_one_sentence_and_status_1(command: str, part: str) -> None:
    said = batch([command])
    assert said.status == 1
    assert part in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_file_without_unwind_tables(chain: Crash, tmp_path: Path) -> None:
    path = tmp_path / "object.o"
    path.write_bytes(Path(chain.core).read_bytes()[:64])
    said = batch([f"whocall audit {path}"])
    assert said.status == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize("before", ["", "-json ", "-limit 3 -json ", "-- "])
def test_file_names_complete(before: str, tmp_path: Path) -> None:
    (tmp_path / "program").touch()
    (tmp_path / "other").touch()
    said = batch([f"complete whocall audit {before}{tmp_path}/pro"])
    assert said.out.splitlines() == [f"whocall audit {before}{tmp_path}/program"]


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("whocall audit -", ["whocall audit -json", "whocall audit -limit"]),
        ("whocall audit -limit ", []),
        ("whocall audit -json ~nobody-here/x", []),
    ],
)
def test_completion(line: str, answers: list[str]) -> None:
    assert batch([f"complete {line}"]).out.splitlines() == answers


def test_ctrl_c_stops_it(chain: Crash) -> None:
    """The audit of this file takes minutes."""
    child = terminal(chain, "-ex", "set height 0")
    child.sendline("whocall audit /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1")
    child.expect_exact("libLLVM-14.so.1\r\n")
    with pytest.raises(pexpect.TIMEOUT):
        child.expect_exact("functions with unwind tables", timeout=2)
    child.sendintr()
    child.expect_exact("Quit")
    child.expect_exact(PROMPT)
    assert "Traceback" not in child.before
    child.sendline("echo still \\n")
    child.expect_exact("\nstill ")
    child.close(force=True)

"""`whocall audit` in gdb: which file, completion; test_manners.py has errors, test_interrupts.py
Ctrl-C.
"""

from __future__ import annotations

import json
from pathlib import Path

from answers import checked
from programs import CHAIN, Crash, build
from sessions import asked, batch

IN_LIBC = (
    "python\nf = gdb.newest_frame()\n"
    "while 'libc.so' not in (gdb.solib_name(f.pc()) or ''): f = f.older()\n"
    "f.select()"
)


def test_the_module_of_the_selected_frame_and_a_file_by_name(chain: Crash) -> None:
    name = "python print(gdb.solib_name(gdb.selected_frame().pc()))"
    own, in_libc, named = "whocall audit -json", "whocall audit -json -limit 3", (IN_LIBC, name)
    by_name = "whocall audit /bin/true"
    said = asked([own, named, in_libc, by_name], [chain.exe, chain.core])
    assert checked(said[own].out)["file"] == str(chain.exe)
    libc = said[named].out.splitlines()[-1]
    found = checked(said[in_libc].out)
    assert Path(found["file"]).samefile(libc)
    assert len(found["differences"]) <= 3
    assert found["calls"]["places"] > 10000
    lines = said[by_name].out.splitlines()
    assert lines[0].startswith("/bin/true: ")
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


def test_a_file_without_unwind_tables(chain: Crash, tmp_path: Path) -> None:
    path = tmp_path / "object.o"
    path.write_bytes(Path(chain.core).read_bytes()[:64])
    said = batch([f"whocall audit {path}"])
    assert said.status == 1
    assert "Traceback" not in said.err


def test_file_names_complete(tmp_path: Path) -> None:
    (tmp_path / "program").touch()
    (tmp_path / "other").touch()
    lines = [f"whocall audit {before}{tmp_path}/pro"
             for before in ("", "-json ", "-limit 3 -json ", "-- ")]  # fmt: skip
    found = asked(f"complete {line}" for line in lines)
    assert [answer.out for answer in found.values()] == [f"{line}gram\n" for line in lines]

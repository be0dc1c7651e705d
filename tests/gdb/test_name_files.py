"""Names from lists that the user gives and from the logs of JIT compilers, in gdb."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from sessions import batch

SOURCE = Path(__file__).parents[1] / "acceptance" / "runtimes" / "jit_program.c"


def test_lists_and_perf_maps(tmp_path: Path) -> None:
    """A setting counts at once; setting it again reads the file anew."""
    twin, bare, listed = tmp_path / "twin", tmp_path / "bare", tmp_path / "list"
    flags = ["-O1", "-fno-omit-frame-pointer", "-DCRASH", '-DMAP="/tmp"']
    subprocess.run(["gcc", *flags, str(SOURCE), "-o", str(twin)], check=True)
    subprocess.run(["strip", "-o", str(bare), str(twin)], check=True)
    listed.write_bytes(subprocess.run(["nm", str(twin)], capture_output=True, check=True).stdout)
    rename = f"shell sed -i 's/ stop$/ renamed/' {listed}"
    pid = "python print('pid', gdb.selected_inferior().pid)"
    commands = ["set startup-with-shell off", "run", pid, "echo {1}\\n", "whocall bt"]
    commands += [f"set whocall symbol-files {listed}", "echo {2}\\n", "whocall bt", rename]
    commands += [f"set whocall symbol-files {listed}", "echo {3}\\n", "whocall bt"]
    commands += ["set whocall symbol-files /nowhere", "echo {4}\\n", "whocall bt"]
    said = batch(commands, [bare])
    match = re.search(r"^pid (\d+)$", said.out, re.MULTILINE)
    assert match is not None, said.err
    Path(f"/tmp/perf-{match.group(1)}.map").unlink()
    _, first, second, third, fourth = re.split(r"\{\d\}\n", said.out)
    for shown in (first, second, third, fourth):
        assert re.search(r"in inner \(.*\) \+6", shown)
        assert re.search(r"in Outer::run\(int, char\*\) \(.*\) \+9", shown)
    assert "in stop (" not in first
    assert "in stop (" in second
    assert "in main (" in second
    assert "in renamed (" in third
    assert "in stop (" not in fourth
    assert "warning: /nowhere cannot be opened" in said.err


def test_completion_of_file_names(tmp_path: Path) -> None:
    (tmp_path / "names.map").write_text("")
    said = batch([f"complete set whocall symbol-files {tmp_path}/na"])
    assert f"{tmp_path}/names.map" in said.out

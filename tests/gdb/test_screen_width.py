"""`whocall bt` and the other commands fit gdb's screen, and name files as gdb is told to."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from corpus.crash import crash
from programs import Crash
from sessions import batch
from terminals import PROMPT, terminal


def test_gdbs_width_and_names_of_files_count(chain: Crash) -> None:
    child = terminal(chain)
    found = {}
    for width, display in ((200, "relative"), (70, "relative"), (200, "absolute")):
        child.sendline(f"set width {width}")
        child.expect_exact(PROMPT)
        child.sendline(f"set filename-display {display}")
        child.expect_exact(PROMPT)
        child.sendline("whocall bt")
        child.expect_exact(PROMPT)
        found[width, display] = [
            line for line in child.before.splitlines() if re.match(r"#|    ", line)
        ]
    whole = found[200, "relative"]
    assert all(line.startswith("#") and line.endswith("]") for line in whole)
    assert " from chain " in whole[0]
    narrow = found[70, "relative"]
    assert max(map(len, narrow)) < 70
    assert len(narrow) > len(whole)
    ends = [line for line in narrow if line.endswith("]")]
    assert len(ends) == len(whole)
    assert not any(line.strip().startswith("[") for line in narrow)
    assert f" from {chain.exe} " in found[200, "absolute"][0]
    child.close(force=True)


def test_sentences_and_tables_fit_the_screen(chain: Crash) -> None:
    child = terminal(chain)
    child.sendline("set width 76")
    child.expect_exact(PROMPT)
    for command in ("whocall", "whocall symbol $pc qsort", "whocall functions -module chain"):
        child.sendline(command)
        child.expect_exact(PROMPT)
        shown = child.before.splitlines()[1:]
        shown = shown[1:] if "functions" in command else shown  # a path is whole there
        assert max(map(len, shown)) < 76, command
        assert str(chain.exe.parent) not in "".join(shown), command
    child.sendline("set filename-display absolute")
    child.expect_exact(PROMPT)
    child.sendline("whocall symbol $pc")
    child.expect_exact(PROMPT)
    assert str(chain.exe) in child.before
    child.close(force=True)


HEADER = (
    "static inline __attribute__((always_inline)) void deep(int *p) { *(volatile int *)p = 1; }\n"
)
SOURCE = '#include "deep.h"\nvoid crash(void) { deep(0); }\nint main(void) { crash(); }\n'
DISPLAYS = ("relative", "basename", "absolute")


def _places(text: str) -> list[str]:
    """`t.c:2` of each frame."""
    return re.findall(r" at (\S+:\d+)", text)


def _of_both(exe: Path, core: Path) -> dict[str, tuple[list[str], list[str]]]:
    """By display the places that gdb's bt tells, and ours."""
    found = {}
    for display in DISPLAYS:
        commands = [
            f"set filename-display {display}",
            "bt",
            "echo ----\\n",
            "whocall bt -no-arguments",
        ]
        theirs, _, ours = batch(commands, [exe, core]).out.partition("----\n")
        found[display] = _places(theirs.rpartition("\n#0")[2]), _places(ours)
    return found


def test_sources_are_named_as_gdb_names_them(tmp_path: Path) -> None:
    for name in ("build", "src", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "src" / "deep.h").write_text(HEADER)
    (tmp_path / "src" / "t.c").write_text(SOURCE)
    (tmp_path / "link").rmdir()
    (tmp_path / "link").symlink_to("src")
    for version in ("4", "5"):
        exe = tmp_path / f"exe{version}"
        subprocess.run(
            ["gcc", f"-gdwarf-{version}", "../link/t.c",
             "-o", exe],
            cwd=tmp_path / "build", check=True,
        )  # fmt: skip
        core = crash(exe, tmp_path / f"run{version}").core
        found = _of_both(exe, core)
        for display, (theirs, ours) in found.items():
            assert ours == theirs, (version, display)
            assert len(ours) >= 2
        assert found["relative"][0][-1] == "../link/t.c:3"
        assert found["absolute"][0][-1] == f"{tmp_path}/src/t.c:3"
        told = batch(
            ["set filename-display absolute", "whocall symbol $pc", "up", "whocall"], [exe, core]
        ).out
        assert f" at {tmp_path}/src/t.c:3" in told
        assert f"at {tmp_path}/src/" in told.partition("#1")[0]
    (tmp_path / "src").rename(tmp_path / "gone")
    found = _of_both(exe, core)
    assert found["absolute"][0][-1] == f"{tmp_path}/build/../link/t.c:3"
    for display, (theirs, ours) in found.items():
        assert ours == theirs, display


def test_where_no_screen_is_lines_are_whole(chain: Crash) -> None:
    said = batch(["set width 60", "whocall bt"], [chain.exe, chain.core])
    frames = [line for line in said.out.splitlines() if line.startswith("#")]
    assert any(len(line) > 60 for line in frames)
    assert all(line.endswith("]") for line in frames[-4:])

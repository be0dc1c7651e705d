"""`whocall bt` in gdb fits the screen, and names files as gdb is told to."""

from __future__ import annotations

import re

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


def test_where_no_screen_is_lines_are_whole(chain: Crash) -> None:
    said = batch(["set width 60", "whocall bt"], [chain.exe, chain.core])
    frames = [line for line in said.out.splitlines() if line.startswith("#")]
    assert any(len(line) > 60 for line in frames)
    assert all(line.endswith("]") for line in frames[-4:])

"""The launch.json of docs/editors.md, by what VS Code's C/C++ extension makes of it in GDB/MI: the
commands of `setupCommands` first, then the program and the core.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from answers import truth
from mi_session import MiSession
from programs import Crash
from sessions import SCRIPT

PAGE = SCRIPT.parents[1] / "docs" / "editors.md"
BETWEEN = [  # what the extension says by itself
    '-interpreter-exec console "set pagination off"',
    '-interpreter-exec console "set debuginfod enabled off"',
    "-gdb-set auto-solib-add on",
]


@pytest.fixture(scope="module")
def launch() -> dict[str, Any]:
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    (found,) = json.loads(block.group(1))["configurations"]
    return dict(found)


def frames(launch: dict[str, Any], crash: Crash, setup: list[str]) -> list[tuple[int, str]]:
    """pc and name of each; of inlined calls, which share a pc, the outermost."""
    with MiSession([]) as gdb:
        for command in setup:
            assert gdb.console(command.replace("/path/to/whocall.py", str(SCRIPT))).kind == "done"
        for command in BETWEEN:
            gdb.ask(command)
        gdb.ask(f"-file-exec-and-symbols {crash.exe}")
        assert "coreDumpPath" in launch
        assert gdb.ask(f"-target-select core {crash.core}").kind == "connected"
        found = gdb.ask("-stack-list-frames 0 1000").results["stack"]
    return list({int(each["addr"], 16): each["func"] for each in found}.items())


def test_the_stack_is_true(launch: dict[str, Any], chain: Crash) -> None:
    assert (launch["type"], launch["MIMode"]) == ("cppdbg", "gdb")
    found = frames(launch, chain, [each["text"] for each in launch["setupCommands"]])
    assert len(found) >= 7
    assert [pc for pc, _ in found] == truth(chain)[: len(found)]
    assert found[-1][1] == "main"
    assert "??" not in [name for _, name in found]


def test_it_is_so_by_the_setup_commands(launch: dict[str, Any], chain: Crash) -> None:
    found = frames(launch, chain, [])
    assert found[0][1] == "??"
    assert [pc for pc, _ in found] != truth(chain)[: len(found)]

"""`whocall symbol` and `functions` take the names that whocall prints, of a process or a file."""

from __future__ import annotations

import pytest
from programs import Crash
from sessions import Said, batch
from stacks import functions

HELPER = ["set whocall helper on", "set whocall helper off"]


def lines_about(said: Said, name: str) -> list[str]:
    return [line for line in said.out.splitlines() if f" is {name} (+0) in " in line]


@pytest.mark.parametrize("setting", HELPER)
def test_one_wrong_word_hides_nothing(workers: Crash, setting: str) -> None:
    asked = [
        setting,
        "whocall symbol nonesuch main sub_11 1+",
        "echo next\\n",
        "whocall symbol main",
    ]
    said = batch(asked, [workers.exe, workers.core])
    first, second = said.out.split("next\n")
    assert "main" in first and " is main" in second, said
    for complaint in ('No symbol "nonesuch"', 'No symbol "sub_11"', "A syntax error"):
        assert complaint in said.err, said


@pytest.mark.parametrize("setting", HELPER)
def test_of_a_file_alone(workers: Crash, setting: str) -> None:
    """At its link addresses."""
    table = functions(workers.twin)
    hidden = {f"sub_{at:x}": at for name, at in table.items() if name.startswith("work")}
    assert hidden
    name, at = next(iter(hidden.items()))
    asked = [setting, f"whocall symbol {name} {at:#x}", f"whocall functions ^{name}$"]
    said = batch(asked, [workers.exe])
    assert len(lines_about(said, name)) == 2, said
    assert f"{workers.exe}: 1 function\n" in said.out, said
    assert f"{at:#018x}" in said.out, said


def test_a_module_is_none_of_a_file_alone(workers: Crash) -> None:
    said = batch(["whocall functions -module libc.so.6 x"], [workers.exe])
    assert "No module is loaded" in said.err, said

"""In gdb hostile names are told as on the command line, by every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacker import judges
from attacker.names import NAMES
from attacker.specimen import specimen
from sessions import asked, refusals

TEXT = (
    "whocall",
    "whocall bt -all",
    "whocall bt -explain -full",
    "whocall functions -module program",
    "whocall modules",
    "whocall why",
    "whocall compare -all",
    "whocall symbol $pc main",
    "whocall audit",
)
JSON = (
    "whocall bt -all -json",
    "whocall functions -json -module program",
    "whocall modules -json",
    "whocall why -json",
    "whocall compare -json",
    "whocall report -json -no-gdb",
)
SPECIMENS = (
    ("symbol", "frame"),
    ("symbol", "no utf-8"),
    ("source", "turned"),
    ("path in core", "clear"),
)


@pytest.mark.parametrize(("field", "word"), SPECIMENS)
def test_no_command_lets_a_name_be_obeyed(field: str, word: str, tmp_path: Path) -> None:
    of = specimen(tmp_path / "s", field, NAMES[word])
    machine = 'interpreter-exec mi "-whocall-backtrace --all-threads"'
    said = asked(["frame 5", *TEXT, *JSON, machine], [of.exe, of.core])
    for command in TEXT:
        answer = said[command]
        assert [*judges.plain(answer.out), *judges.plain(answer.err)] == [], command
        assert answer.out, (command, answer.err)
    for command in JSON:
        answer = said[command]
        assert [*judges.data(answer.out), *judges.plain(answer.err)] == [], command
    assert [*judges.plain(said[machine].out)] == []
    assert "backtrace=" in said[machine].out


def test_a_complaint_is_told_too(tmp_path: Path) -> None:
    of = specimen(tmp_path / "s", "symbol", NAMES["frame"])
    words = "\x1b[8m\u202e\x07x"
    commands = [f"whocall functions -module {words}", f"whocall {words}", f"whocall audit {words}"]
    for said in refusals(commands, [of.exe, of.core]).values():
        assert [*judges.plain(said)] == []
        assert "\\x1b[8m\\u202e" in said

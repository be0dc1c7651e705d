"""Commands are told in one table: what is made of it is as it says, and there is no second one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_lists import second_lists

import whocall.commands as table

TABLE = {"commands/shell_rows.py", "commands/gdb_rows.py"}  # made of the table
NAMES = {*table.shell_names(), *(name for name, _ in table.gdb_commands())}


def sources(root: Path) -> list[Path]:
    package = root / "gdbext" / "whocall"
    made = {package / name for name in TABLE}
    python = [*(root / "gdbext").rglob("*.py"), *(root / "scripts").rglob("*.py")]
    native = [path for path in (root / "native").rglob("*") if path.suffix in (".h", ".cpp", ".c")]
    builds = [*(root / "native").rglob("CMakeLists.txt"), root / "CMakeLists.txt"]
    return sorted({*python, *native, *builds} - made)


def test_no_second_list_of_commands(project_root: Path) -> None:
    assert len(NAMES) > 20
    assert list(second_lists(sources(project_root), NAMES)) == []


@pytest.mark.parametrize(
    "planted",
    [
        'COMMANDS = {"bt": 1, "why": 2, "compare": 3}\n',
        'ADDED = [("bt", add), ("why", add), ("compare", add)]\n',
        'def f(name):\n    if name == "bt":\n        pass\n    elif name in ("why", "compare"):\n'
        "        pass\n",
        'register("bt", "why", "compare")\n',
        'Command("bt", 1)\nCommand("why", 2)\nCommand("compare", 3)\n',
        'A = Syntax("whocall bt")\nB = Syntax("whocall why")\nC = Syntax("whocall compare")\n',
    ],
)
def test_a_planted_one_is_found(planted: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(planted)
    assert list(second_lists([path], NAMES)) != []
    path.write_text(planted.replace("why", "other"))
    assert list(second_lists([path], NAMES)) == []


def test_a_planted_one_is_found_in_native_code(tmp_path: Path) -> None:
    path = tmp_path / "planted.cpp"
    path.write_text(
        'int a;\nconstexpr Row kRows[] = {{"bt", 1}, {"why", 2},\n{"repair-plan", 3}};\n'
    )
    assert len(list(second_lists([path], NAMES))) == 1


def _modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


def test_each_command_has_a_module_of_its_name(project_root: Path) -> None:
    package = project_root / "gdbext" / "whocall"
    ours = {table.module_name(name) for name in table.shell_names()}
    assert _modules(package / "cli" / "commands") == ours
    inside = {table.module_name(name) for name, _ in table.gdb_commands()}
    assert inside - _modules(package / "gdb" / "commands") == set()


def test_what_is_made_of_the_table_is_as_it_says(project_root: Path) -> None:
    sys.path.insert(0, str(project_root / "scripts" / "commands"))
    try:
        import rows
    finally:
        sys.path.pop(0)
    for path, text in rows.texts().items():
        assert path.read_text(encoding="utf-8") == text, "run python3 scripts/commands"

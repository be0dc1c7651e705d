"""The table of commands: examples that parse, what the sandbox keeps, mistakes that are refused."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

import whocall.commands as table
from whocall.base.errors import UsageError
from whocall.base.model import FILE_DISPLAYS
from whocall.cli.parsing import parse_command
from whocall.cli.sandbox import Keeps, kept_by
from whocall.report.formats import FORMATS
from whocall.shared_front_end.options import syntax


@pytest.fixture(scope="module")
def source(project_root: Path) -> ModuleType:
    sys.path.insert(0, str(project_root / "scripts" / "commands"))
    try:
        import source
    finally:
        sys.path.pop(0)
    return source


SHELL = [
    (name, example) for name in table.own_names() for example in table.shell_command(name).examples
]
GDB = [(name, example) for name, command in table.gdb_commands() for example in command.examples]


def test_every_command_has_examples() -> None:
    assert {name for name, _ in SHELL} == set(table.own_names())
    assert {name for name, _ in GDB} == {name for name, _ in table.gdb_commands()}


@pytest.mark.parametrize(("name", "example"), SHELL)
def test_examples_of_the_command_line(name: str, example: str) -> None:
    words = shlex.split(example.rpartition("| ")[2])
    assert words[:2] == ["whocall", name]
    assert parse_command(words[1:]) is not None


@pytest.mark.parametrize(("name", "example"), GDB)
def test_examples_in_gdb(name: str, example: str) -> None:
    words = table.gdb(name).words
    assert example.startswith(words)
    syntax(name).parse(example[len(words) :])


# What is typed, and what the command keeps beside reading.
KEPT = {
    "bt C": Keeps(inputs=["C"]),
    "bt C E D": Keeps(inputs=["C", "E", "D"]),
    "bt --pid 7": Keeps(inputs=[], processes=True),
    "bt --list": Keeps(inputs=None, later=True),
    "bt --crash x": Keeps(inputs=None, later=True),
    "caller C E": Keeps(inputs=["C", "E"]),
    "why C": Keeps(inputs=["C"]),
    "waits C E": Keeps(inputs=["C", "E"]),
    "waits --pid 7": Keeps(inputs=[], processes=True),
    "modules C": Keeps(inputs=["C"]),
    "compare C E": Keeps(inputs=["C", "E"], gdb=True),
    "compare C --gdb-frames F": Keeps(inputs=["C"]),
    "compare C --shadow": Keeps(inputs=["C"]),
    "functions F --exe E": Keeps(inputs=["F", "E"]),
    "symbol F 1": Keeps(inputs=["F"]),
    "audit F": Keeps(inputs=[]),
    "resolve L": Keeps(inputs=[]),
    "signatures A -o O": Keeps(inputs=[], outputs=["O"]),
    "export F -o O": Keeps(inputs=["F"], outputs=["O"]),
    "unpack F -o O": Keeps(inputs=None, outputs=["O"]),
    "shrink C E -o O": Keeps(inputs=None, outputs=["O"]),
    "repair-plan C --folder D": Keeps(inputs=["C"], folders=["D"], caches=("symbols",)),
    "report C D -o O": Keeps(inputs=["C", "D"], outputs=["O"], gdb=True),
    "report C --no-gdb --json": Keeps(inputs=["C"]),
    "serve D": Keeps(inputs=None, later=True),
    "serve D --gdb": Keeps(inputs=None, later=True, gdb=True),
    "trace F -o O": Keeps(inputs=["F"], outputs=["O"]),
    "trace --pid 0": Keeps(inputs=[], processes=True),
    "triage D --store /s/x --reports R -o O": Keeps(
        inputs=None, outputs=["O"], folders=["/s"], new_folders=["R"], caches=("triage",),
        workers=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", KEPT)
def test_what_is_kept_in_the_sandbox(line: str) -> None:
    words = line.split()
    values = parse_command(words)
    keeps = table.shell_command(words[0]).keeps
    assert values is not None
    assert keeps is not None
    found, wanted = kept_by(dict(keeps), values), KEPT[line]
    for field in Keeps.__annotations__:
        ours, theirs = getattr(found, field), getattr(wanted, field)
        both = isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple))
        assert (list(ours) == list(theirs)) if both else ours == theirs, field


def test_all_but_the_doctor_give_something_up() -> None:
    confined = {line.split()[0] for line in KEPT}
    # Whoever looks at a process that has crashed is confined: tests/runtime.
    assert set(table.own_names()) - confined == {"doctor", "receive"}
    assert table.shell_command("doctor").keeps is None


def test_what_options_suggest_is_what_there_is() -> None:
    takes = {each.name: each for each in table.shell_command("bt").takes}
    assert takes["format"].suggests == tuple(FORMATS)
    assert takes["filename-display"].suggests == FILE_DISPLAYS
    assert takes["filename-display"].default == FILE_DISPLAYS[0]


ROW = {"option": "x", "help": "y"}
MISTAKES = {
    "an unknown key": {"name": "a", "shell": {"takes": [{**ROW, "helps": ""}]}},
    "an unknown kind": {"name": "a", "shell": {"takes": [{**ROW, "kind": "fil"}]}},
    "an option twice": {"name": "a", "shell": {"takes": [ROW, ROW]}},
    "neither an option nor an argument": {"name": "a", "shell": {"takes": [{"help": ""}]}},
    "what the sandbox does not know": {"name": "a", "shell": {"keeps": {"network": True}}},
    "an option of gdb's without words": {"name": "a", "gdb": {"options": ["x"]}},
    "no order": {"name": "a", "gdb": {"options": [ROW, {**ROW, "option": "b"}]}},
    "no world": {"name": "a"},
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_in_the_table_are_refused(what: str, source: ModuleType, tmp_path: Path) -> None:
    told = {"program": {"takes": []}, "texts": {}, "groups": {}, "commands": [MISTAKES[what]]}
    path = tmp_path / "commands.json"
    path.write_text(json.dumps(told))
    with pytest.raises(source.TableError, match="a"):
        source.table(path)


def test_tables_in_the_documentation_are_renewed(source: ModuleType, project_root: Path) -> None:
    sys.path.insert(0, str(project_root / "scripts" / "commands"))
    try:
        import markdown
    finally:
        sys.path.pop(0)
    text = f"before\n{markdown.BEGIN}\nold\n{markdown.END}\nbehind\n"
    renewed = markdown.renewed(text)
    assert "\nold\n" not in renewed
    assert (renewed.partition("\n")[0], renewed.rpartition("-->")[2]) == ("before", "\nbehind\n")
    assert "| `whocall bt [OPTION]... [COUNT \\| -COUNT]` | Print the true backtrace" in renewed
    assert "| `whocall export [OPTION]... FILE -o OUT` | save names" in renewed
    assert markdown.renewed(renewed) == renewed
    assert markdown.renewed("no marks") == "no marks"
    for page in markdown.pages():
        told = page.read_text(encoding="utf-8")
        assert told == markdown.renewed(told), f"{page}: run python3 scripts/commands"


def test_options_as_the_other_side_has_them() -> None:
    """One dash in gdb, two in a shell; neither is wrong on the other side."""
    found = parse_command(["bt", "core", "-all", "-max-frames=5", "--", "-all"])
    assert found is not None
    assert (found.all, found.max_frames, found.exe) == (True, 5, "-all")
    assert syntax("bt").parse("--all --without cfi 3") == syntax("bt").parse("-all -without cfi 3")
    with pytest.raises(UsageError, match='has no option "--al"'):
        syntax("bt").parse("--al")
    part = parse_command(["bt", "core", "-al"])
    assert part is not None and part.all


def test_a_part_of_a_long_name_is_no_short_one_with_a_value() -> None:
    """`report CORE -out PAGE` wrote a file called `ut`, and took PAGE for the program."""
    for word in ("-out", "-outp", "-output", "--out"):
        found = parse_command(["report", "core", word, "page"])
        assert found is not None and found.output == "page", word
    short = parse_command(["report", "core", "-opage"])
    assert short is not None and short.output == "page"

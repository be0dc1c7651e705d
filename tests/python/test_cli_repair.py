"""The command line for debuggers: symbol files, and plans of repairs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_cli import run

from whocall.base.errors import Error
from whocall.repair.chain import Chain, RegisterNames, Step
from whocall.repair.plan import AttachedState, ModuleState, Plan, SymbolDelivery
from whocall.repair.plan_json import (
    WITH_REGISTERS,
    attached_from,
    attached_json,
    plan_from,
    plan_json,
)

LIBRARY = "/lib/x86_64-linux-gnu/libc.so.6"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Stripped, without unwind tables."""
    source = tmp_path / "program.c"
    source.write_text("int other(int n) { return n + 1; }\nint main(void) { return other(1); }\n")
    flags = ["-O1", "-fno-inline", "-fno-asynchronous-unwind-tables", "-s"]
    subprocess.run(["gcc", *flags, source, "-o", tmp_path / "program"], check=True)
    return tmp_path / "program"


NAMES = RegisterNames("rip", "rsp")


def plan_of(*arguments: str | Path, **more: str) -> dict[str, Any]:
    ran = run("repair-plan", *map(str, arguments), **more)
    assert (ran.returncode, ran.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_export(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "out file"
    ran = run("export", str(program), "-o", str(out))
    assert (ran.returncode, ran.stderr) == (0, "")
    listed = subprocess.run(["readelf", "-sW", out], capture_output=True, text=True, check=True)
    assert re.search(r"FUNC +\w+ +DEFAULT +\d+ main$", listed.stdout, re.MULTILINE)
    assert re.search(r"FUNC +\w+ +DEFAULT +\d+ sub_\w+$", listed.stdout, re.MULTILINE)
    # readelf also complains that .eh_frame has no contents here.
    frames = subprocess.run(["readelf", "-wf", out], capture_output=True, text=True, check=False)
    assert frames.stdout.count(" FDE ") >= 2
    told = ran.stdout.splitlines()
    assert told[0].startswith(f"{out}: ")
    assert told[-1] == (
        f'  python gdb.lookup_objfile("program").add_separate_debug_file("{out}");'
        " gdb.invalidate_cached_frames()"
    )
    identity = subprocess.run(
        ["readelf", "-n", program], capture_output=True, text=True, check=True
    )
    match = re.search(r"Build ID: (\w+)", identity.stdout)
    assert match is not None
    assert f"/.build-id/{match.group(1)[:2]}/{match.group(1)[2:]}.debug " in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (("export", LIBRARY), 2, "-o"),
        (("export", "/nowhere/file", "-o", "/dev/null/x"), 1, "/nowhere/file"),
        (("export", "/etc/passwd", "-o", "/dev/null/x"), 1, "/etc/passwd"),
        (("export", LIBRARY, "-o", "/nowhere/x"), 1, "/nowhere/x: cannot be written"),
        (("export", LIBRARY, "-o", "/dev/null/x", "--module", "x.so"), 1, "no module x.so"),
        (("repair-plan", LIBRARY), 2, "--folder"),
        (
            ("repair-plan", LIBRARY, "--folder", "/tmp", "--attached", "/nowhere/x"),
            1,
            "/nowhere/x: No",
        ),
        (
            ("repair-plan", LIBRARY, "--folder", "/tmp", "--attached", "/etc/passwd"),
            1,
            "is no JSON",
        ),
        (("repair-plan", "/etc/passwd", "--folder", "/tmp"), 1, "/etc/passwd"),
    ],
)
def test_errors(arguments: tuple[str, ...], status: int, part: str) -> None:
    ran = run(*arguments)
    assert ran.returncode == status, ran.stderr
    assert part in ran.stderr
    assert "Traceback" not in ran.stderr
    assert status == 2 or len(ran.stderr.splitlines()) == 1


def test_a_plan_for_a_file_and_what_was_told_before(program: Path, tmp_path: Path) -> None:
    """What a debugger has is not made a second time."""
    cache, told = str(tmp_path / "cache"), tmp_path / "told.json"
    first = plan_of(program, "--folder", tmp_path, XDG_CACHE_HOME=cache)
    assert (first["schema"], first["threads"]) == ("whocall.repair-plan/1", [])
    (module,) = first["modules"]
    assert (module["path"], module["bias"]) == (str(program), "0x0")
    (file,) = module["symbol_files"]
    assert Path(file).parent == tmp_path / "cache" / "whocall"
    assert module["state"]["begun"]
    told.write_text(json.dumps([{**module, "bias": None}]))
    again = plan_of(program, "--folder", tmp_path, "--attached", told, XDG_CACHE_HOME=cache)
    assert again["modules"][0] == {**module, "symbol_files": []}


def step(level: int, *, ruled: bool = True) -> Step:
    return Step(level, level + 1, 16 * level, 16 * level + 16, 0, {"rip": level + 1}, ruled)


def test_a_plan_survives_its_printing() -> None:
    last = Step(5, 4, 80, 96, 1, None, True)
    state = ModuleState(begun=True, named=1, unnamed=2, ruled={3, 1 << 63}, budget=7)
    plan = Plan(
        NAMES,
        [
            Chain(7, [step(0), step(1, ruled=False), last]),
            Chain(8, [step(0)], more=1000, last=(step(1000, ruled=False), last), unruled=9),
            Chain(9, [step(0)], is_whole=False),
        ],
        [SymbolDelivery("/a", "", "ab12", 1 << 47, [Path("/b")], state)],
        [(0x1000, 0x2000), (1 << 63, (1 << 63) + 4096)],
    )
    assert plan_from(json.loads(json.dumps(plan_json(plan)))) == plan
    told = [AttachedState("/a", "", None, state), AttachedState("/b", "cd", 5, ModuleState())]
    assert attached_from(json.loads(json.dumps(attached_json(told))), "x") == told


def test_deep_frames_tell_registers_only_where_no_rule_leads_on() -> None:
    steps = [step(level, ruled=level % 2 == 0) for level in range(2 * WITH_REGISTERS)]
    (chain,) = plan_from(plan_json(Plan(NAMES, [Chain(1, steps)], []))).chains
    known = [bool(found.caller) for found in chain.steps]
    assert known[:WITH_REGISTERS] == [True] * WITH_REGISTERS
    assert known[WITH_REGISTERS:] == [False, True] * (WITH_REGISTERS // 2)
    assert [found.leads for found in chain.steps] == known


@pytest.mark.parametrize("found", [{}, 3, [3], [{}], [{"path": "x"}], {"a": 1}])
def test_what_was_told_is_read_or_refused(found: Any) -> None:
    if found == {}:
        assert attached_from(found, "x") == []
        return
    with pytest.raises(Error, match="^x: this is not what a gdb was told"):
        attached_from(found, "x")

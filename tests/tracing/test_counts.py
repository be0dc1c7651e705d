"""Eight threads at once: counts are those of the program, and live stacks those of `whocall bt`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tracing.lab import ROOT, Ran, build, profile, run, said, whocall

SCHEMA = ROOT / "gdbext" / "whocall" / "schema" / "shadow-1.json"


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    exe = build(tmp_path_factory.mktemp("counted"), "counted.c", "-O2")
    ran = run(exe, "20000", WHOCALL_TRACE_EVENTS="40000")
    assert ran.core is not None
    return ran


def test_no_call_is_lost(counted: Ran) -> None:
    assert sum(counted.counts().values()) == 8 * 20000
    assert profile(counted.core) == counted.counts()


def test_what_the_ring_has_lost_is_said(counted: Ran, tmp_path: Path) -> None:
    """A smaller ring holds the latest events; the threads' lines tell of the others."""
    ran = run(counted.exe, "20000", folder=tmp_path, WHOCALL_TRACE_EVENTS="4096")
    head = [line for line in said("trace", ran.core).splitlines() if line.startswith("Thread")]
    assert len(head) == 8
    assert all("4,096 events in a ring of 4,096, 3" in line for line in head)
    # Each call has two events, but for those that are still running: 20,000 calls in all.
    lost = [int(line.split("4,096, ")[1].split(" older")[0].replace(",", "")) for line in head]
    running = [int(line.split("; ")[1].split(" deep")[0].rsplit(", ", 1)[1]) for line in head]
    assert [2 * 20000 - deep - 4096 for deep in running] == lost
    assert sorted(running) == list(range(1, 9))


def live_stacks(core: Path) -> dict[int, list[str]]:
    """Functions of each thread's shadow stack, innermost first, by its id."""
    stacks: dict[int, list[str]] = {}
    for line in said("trace", core, "--stacks").splitlines():
        words = line.split()
        if line.startswith("Thread") and "ended" not in line:
            thread = stacks.setdefault(int(words[1]), [])
        elif line.startswith("#"):
            thread.append(words[1])
    return stacks


def walked_stacks(core: Path, functions: set[str]) -> dict[int, list[str]]:
    document = json.loads(said("bt", core, "--all", "--json"))
    return {
        thread["lwp"]: [
            name
            for name in (str(frame["function"]).partition(".cold")[0] for frame in thread["frames"])
            if name in functions
        ]
        for thread in document["threads"]
    }


def test_live_stacks_are_those_of_bt(counted: Ran) -> None:
    stacks = live_stacks(counted.core)
    walked = walked_stacks(counted.core, {"wait_for_all", "leaf", "odd", "walk", "turn"})
    assert {lwp: names for lwp, names in walked.items() if names} == stacks
    assert sorted(map(len, stacks.values())) == list(range(1, 9))


def test_compare_holds_frames_against_shadow_stacks(counted: Ran) -> None:
    document = json.loads(said("compare", counted.core, "--shadow", "--all", "--json"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert len(document["threads"]) == 8
    assert all(thread["agrees"] for thread in document["threads"])
    assert sum(thread["counts"]["same"] for thread in document["threads"]) == 36


def test_a_stripped_program_without_a_symbol(counted: Ran, tmp_path: Path) -> None:
    """The note that leads to the regions stays; nothing but it and the magic of pages is needed."""
    exe = tmp_path / "stripped"
    subprocess.run(["strip", "-s", str(counted.exe), "-o", str(exe)], check=True)
    ran = run(exe, "2000")
    calls = sorted(profile(ran.core).values())
    assert calls == sorted(ran.counts().values())
    assert all(name.startswith("sub_") for name in profile(ran.core))
    without_note = tmp_path / "without"
    remove = ["objcopy", "-R", ".note.whocall.trace", str(exe), str(without_note)]
    subprocess.run(remove, check=True)
    ran = run(without_note, "2000")
    assert sorted(profile(ran.core).values()) == sorted(ran.counts().values())


def test_a_program_without_hooks(tmp_path: Path) -> None:
    source = tmp_path / "plain.c"
    source.write_text("#include <stdlib.h>\nint main(void) { abort(); }\n")
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "plain")], check=True)
    ran = whocall("trace", run(tmp_path / "plain").core)
    assert ran.returncode == 1
    assert "has no call trace" in ran.stderr
    assert "-finstrument-functions" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1

"""What threads wait for, who has it, and deadlocks: as the programs themselves say it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from acceptance.helpers.broken_files import SCRIPT
from acceptance.helpers.rust_programs import RUSTC
from places.needs import ATTACHING, OWN_MOUNTS, as_root

import whocall
from waits.programs import agree, compiled, core_of, in_call, running, told, waits
from whocall.report.causes.happened import what_happened
from whocall.report.tables.waits import deadlocks

PROVEN = [
    *("two", "five", "recursive", "error-checking", "robust", "robust recursive", "itself"),
    *("inheriting", "sleeping owner", "running owner", "rwlock", "condition", "woken"),
    *("semaphore", "barrier", "once", "join", "join ring"),
]
ONLY_LIKE_A_DEADLOCK = [
    *("timed join", "timed join ring", "destroyed", "reused", "given back", "ended owner"),
    *("timed ring", "condition ring", "semaphore ring", "two processes", "a word"),
]
GCC = ("gcc", "-O1", "-pthread")
MUSL = ("musl-gcc", "-O1")


def folder(case: str) -> str:
    return case.replace(" ", "-")


@pytest.mark.parametrize("case", PROVEN + ONLY_LIKE_A_DEADLOCK)
def test_of_a_core(case: str, place: Path) -> None:
    exe = compiled("locks.c", place / "locks", *GCC)
    core, truth = core_of(exe, case, place / "cores" / folder(case))
    agree(told(core, exe), truth)


@pytest.mark.needs(ATTACHING)
@pytest.mark.parametrize("case", PROVEN + ONLY_LIKE_A_DEADLOCK)
def test_of_a_process(case: str, place: Path) -> None:
    exe = compiled("locks.c", place / "locks", *GCC)
    with running(exe, case, place / "live" / folder(case)) as (pid, truth):
        agree(told("--pid", str(pid)), truth)


@pytest.mark.parametrize("case", [*PROVEN, "ended owner", "timed ring", "condition ring"])
def test_with_32_bits(case: str, place: Path) -> None:
    exe = compiled("locks.c", place / "locks32", *GCC, "-m32")
    core, truth = core_of(exe, case, place / "cores32" / folder(case))
    agree(told(core, exe), truth)


@pytest.mark.parametrize("case", [*PROVEN, "destroyed", "reused", "given back", "timed ring"])
def test_without_any_names(case: str, place: Path) -> None:
    """Nothing says which function waits: what the words prove is told, and nothing else."""
    exe = compiled("locks.c", place / "static", *GCC, "-static")
    core, truth = core_of(exe, case, place / "static-cores" / folder(case))
    agree(told(core, exe), truth, kinds=False)


OWNERS_OF_MUSL = {"recursive", "error-checking", "robust", "robust recursive", "join ring"}


@pytest.mark.parametrize(
    "case",
    [*(case for case in PROVEN if case not in ("inheriting", "itself", "woken", "join ring")),
     "ended owner", "timed ring", "condition ring", "semaphore ring", "two processes", "a word"],
)  # fmt: skip
@pytest.mark.parametrize("linked", ["-rdynamic", "-static"])
def test_with_musl(case: str, linked: str, place: Path) -> None:
    exe = compiled("locks.c", place / f"musl{linked}", *MUSL, linked)
    core, truth = core_of(exe, case, place / f"musl{linked}-cores" / folder(case))
    agree(told(core, exe), truth, case in OWNERS_OF_MUSL, kinds=linked != "-static")


def test_the_standard_library_of_cpp(place: Path) -> None:
    exe = compiled("standard.cpp", place / "standard", "g++", "-O1", "-std=c++20", "-pthread")
    core, truth = core_of(exe, "", place / "cores" / "standard")
    agree(told(core, exe), truth)


@pytest.mark.parametrize("strips", [False, True])
def test_rust(strips: bool, place: Path) -> None:
    """Without names its locks are the futexes that they are."""
    exe = compiled("locks.rs", place / f"rust-{strips}", RUSTC, "-O", strips=strips)
    core, truth = core_of(exe, "", place / f"rust-cores-{strips}")
    agree(told(core, exe), truth, kinds=not strips)


@pytest.mark.needs(ATTACHING)
def test_other_things_of_a_process(place: Path) -> None:
    exe = compiled("calls.c", place / "calls", *GCC)
    with running(exe, "", place / "live" / "calls") as (pid, truth):
        document = told("--pid", str(pid))
        agree(document, truth)
        by_lwp = {thread["lwp"]: thread for thread in document["threads"]}
        for name, begin in (("a", "pipe:["), ("b", "socket:["), ("c", "socket:["), ("d", "anon_")):
            descriptor = by_lwp[truth.threads[name]]["descriptor"]
            assert descriptor["name"].startswith(begin)
        assert by_lwp[truth.threads["f"]]["timed"]
        assert not by_lwp[truth.threads["e"]]["timed"]
        assert "wait4(-1, NULL, 0, NULL)" in waits("--pid", str(pid))


@pytest.mark.needs(ATTACHING, OWN_MOUNTS)
def test_a_process_with_ids_of_its_own(place: Path) -> None:
    """Locks hold the ids by which a container knows its threads."""
    exe = compiled("locks.c", place / "locks", *GCC)
    inside = [*as_root(), "unshare", "--pid", "--fork", "--kill-child", str(exe)]
    with running(exe, "two", place / "live" / "container", inside) as (pid, truth):
        children = Path(f"/proc/{pid}/task/{pid}/children")
        while Path(f"/proc/{pid}/exe").resolve() != exe.resolve():
            pid = int(children.read_text().split()[0])
            children = Path(f"/proc/{pid}/task/{pid}/children")
        document = told("--pid", str(pid))
        ids = sorted(thread["lwp"] for thread in document["threads"])
        truth.threads = {name: ids[tid - 1] for name, tid in truth.threads.items()}
        agree(document, truth)


def test_other_things_of_a_core(place: Path) -> None:
    """What stands behind a descriptor is not told there."""
    exe = compiled("calls.c", place / "calls", *GCC)
    core, truth = core_of(exe, "", place / "cores" / "calls")
    hidden = {"a": "descriptor", "c": "descriptor", "d": "descriptor"}
    for name, kind in hidden.items():
        truth.waits[name] = (kind, 0, "-")
    agree(told(core, exe), truth)


@pytest.mark.needs(ATTACHING)
def test_a_call_that_is_begun_anew_is_told_by_its_code(place: Path) -> None:
    """Whoever looks twice sees restart_syscall in the place of a sleep."""
    exe = compiled("locks.c", place / "locks", *GCC)
    with running(exe, "sleeping owner", place / "live" / "twice") as (pid, truth):
        first = told("--pid", str(pid))
        second = told("--pid", str(pid))
        agree(first, truth)
        agree(second, truth)
        lwp = truth.threads["a"]
        calls = [
            next(thread["system_call"] for thread in each["threads"] if thread["lwp"] == lwp)
            for each in (first, second)
        ]
        assert [call["restarted"] for call in calls] == [False, True]
        assert calls[0]["text"] == calls[1]["text"]
        assert calls[1]["text"].startswith("clock_nanosleep(CLOCK_REALTIME, 0, 0x")


@pytest.mark.needs(ATTACHING)
def test_calls_that_a_later_c_library_makes_in_one_place(place: Path) -> None:
    """Neither which call goes on nor what a version of a function is for is told by the code."""
    exe = compiled("later_libc.c", place / "later", "gcc", "-O1", "-rdynamic")
    with in_call(exe, 230) as pid:
        for restarted in (False, True):
            (thread,) = told("--pid", str(pid))["threads"]
            call = thread["system_call"]
            assert (thread["waits_for"], call["restarted"]) == ("sleep", restarted)
            assert call["number"] == 230
            assert call["text"].startswith("clock_nanosleep(CLOCK_MONOTONIC, 0, 0x")
    with in_call(exe, 202, "once") as pid:
        (thread,) = told("--pid", str(pid))["threads"]
        assert (thread["waits_for"], thread["function"]) == ("once", "pthread_once_slow")


def test_a_deadlock_is_told_in_a_sentence(place: Path) -> None:
    exe = compiled("locks.c", place / "locks", *GCC)
    core, truth = core_of(exe, "two", place / "cores" / "two")
    numbers = {
        name: next(t["number"] for t in told(core, exe)["threads"] if t["lwp"] == lwp)
        for name, lwp in truth.threads.items()
    }
    first, second = sorted(numbers, key=numbers.__getitem__)
    sentence = (
        f"Thread {numbers[first]} waits for the mutex at {truth.waits[first][1]:#x}, which thread"
        f" {numbers[second]} has; thread {numbers[second]} waits for the mutex at"
        f" {truth.waits[second][1]:#x}, which thread {numbers[first]} has: a deadlock."
    )
    said = waits(core, exe)
    assert sentence in said.splitlines()
    assert "FUTEX_WAIT_PRIVATE, 2, NULL" in said
    line = ["gdb", "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}", "-ex", "whocall waits"]
    shown = subprocess.run([*line, exe, core], capture_output=True, text=True, check=False)
    assert said in shown.stdout


@pytest.mark.needs(ATTACHING)
@pytest.mark.parametrize("flags", [(), ("-m32",)])
def test_of_a_process_in_gdb(flags: tuple[str, ...], place: Path) -> None:
    """By the registers that gdb tells, and under its own numbers."""
    exe = compiled("locks.c", place / f"locks{''.join(flags)}", *GCC, *flags)
    with running(exe, "two", place / "live" / f"gdb{''.join(flags)}") as (pid, truth):
        line = ["gdb", "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}", "-p", str(pid)]
        line += ["-ex", "whocall waits -json"]
        shown = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    document = json.loads(shown[shown.index("{\n") : shown.rindex("}") + 1])
    agree(document, truth)
    assert document["cycles"][0]["threads"] == [2, 3]
    assert document["cycles"][0]["sentence"].startswith("Thread 2 waits for the mutex at 0x")


def test_a_deadlock_is_what_happened(place: Path) -> None:
    """To a program that somebody ended."""
    exe = compiled("locks.c", place / "locks", *GCC)
    for case, is_told in (("two", True), ("timed ring", False)):
        core, _ = core_of(exe, case, place / "cores" / folder(case))
        with whocall.open_core(str(core), str(exe)) as image:
            index = image.index_of_crash()
            happened = what_happened(image, index, image.backtrace(index))
            sentences = deadlocks(image)
        assert [fact["kind"] == "deadlock" for fact in happened["facts"][:1]] == [is_told]
        assert len(sentences) == is_told
        assert ("a deadlock." in happened["sentence"]) is is_told


def test_scripts_have_the_same(place: Path) -> None:
    exe = compiled("locks.c", place / "locks", *GCC)
    core, _ = core_of(exe, "two", place / "cores" / "two")
    with whocall.open_core(str(core), str(exe)) as image:
        assert whocall.waits_data(image) == told(core, exe)


def test_a_limit_in_time_is_told(place: Path) -> None:
    exe = compiled("locks.c", place / "locks", *GCC)
    core, _ = core_of(exe, "timed ring", place / "cores" / "timed-ring")
    said = waits(core, exe)
    assert "for a limited time" in said
    assert "a cycle, which ends when the time of thread" in said
    assert "a deadlock" not in said

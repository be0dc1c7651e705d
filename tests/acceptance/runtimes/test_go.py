"""Go programs, stripped: every frame of the goroutine that crashed, and sane stacks of all threads.

The witnesses are the Go runtime's own traceback, printed by the crash itself, and nm and gdb on
the unstripped twin.
"""

from __future__ import annotations

import re
import struct
import time
from array import array
from pathlib import Path

import pytest
from guards import guarded
from oracles import gdb_bt, nm_table, objdump_table
from stock.gcore import gcore

import whocall
from acceptance.helpers import chains
from acceptance.helpers.broken_files import PT_NOTE, offset_of, segments
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.source_programs import gdb_lines
from acceptance.runtimes.gochains import (
    WALK,
    c_functions,
    crashed,
    insane,
    planted,
    traces,
    unlike,
)
from acceptance.runtimes.goruns import GoToolchain, parse, ready, stripped

CALLBACKS = 100_000
"""Words of a made-up stack."""

SYSCALL = b"\x0f\x05"


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> GoToolchain:
    """Debian's Go, with a cache of its own."""
    return GoToolchain(tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def crashes(go: GoToolchain) -> dict[str, Path]:
    """One program, linked without symbols, and stripped; and its twin."""
    twin = go.build("crashes", "twin")
    return {
        "twin": twin,
        "linked bare": go.build("crashes", "linked-bare", "-ldflags=-s -w"),
        "stripped": stripped(twin, "stripped"),
    }


WAYS = ("nil", "panic", "goroutine", "deferred", "overflow", "nilfunc", "map")


@pytest.mark.parametrize(
    ("bare", "way"),
    [*(("linked bare", way) for way in WAYS), ("stripped", "nil"), ("stripped", "overflow")],
)
def test_the_goroutine_that_crashed_is_whole(
    go: GoToolchain, crashes: dict[str, Path], way: str, bare: str, scoreboard: Scoreboard
) -> None:
    """Frame by frame as the runtime prints it, down to runtime.goexit."""
    crash = go.crash(crashes[bare], way)
    try:
        found = traces(crash.exe, crash.core)
    finally:
        crash.core.unlink()
    stack = crash.running()
    trace = crashed(found, stack)
    assert not unlike(trace, stack), chains.listing(trace)
    assert not insane(found)
    scoreboard.table(
        "Go crashes, stripped", "way", "frames", "printed by Go", "threads"
    ).rows.append((f"{way}, {bare}", len(trace.frames), len(stack.frames), len(found)))


def test_threads_agree_with_gdb_on_the_twin(go: GoToolchain, crashes: dict[str, Path]) -> None:
    """Where no stack is switched gdb walks Go by its debug info: the same frames to the last."""
    crash = go.crash(crashes["stripped"], "goroutine")
    try:
        found = traces(crash.exe, crash.core)
        by_gdb = gdb_bt.of_core(crash.core, crashes["twin"], limit=100)
    finally:
        crash.core.unlink()
    plain = [trace for trace in found if not any(each.signal_trampoline for each in trace.frames)]
    assert len(plain) >= 2
    for trace in plain:
        mine = chains.pcs(trace)
        assert by_gdb[trace.lwp].pcs()[: len(mine)] == mine, chains.listing(trace)


def test_goroutines_blocked_when_told_to_quit(go: GoToolchain, crashes: dict[str, Path]) -> None:
    """SIGQUIT: each thread prints its stack in its handler, one after the other."""
    place = go.directory / "quit"
    place.mkdir()
    exe = crashes["stripped"]
    with ready(exe, "blocked", place) as process:
        process.send_signal(3)
        said = process.stderr.read()
        process.wait()
    core = next(place.glob("core*"))
    try:
        found = traces(exe, core)
    finally:
        core.unlink()
    assert not insane(found)
    assert len(found) >= 4
    printed = {
        (frame.pc, frame.cfa) for stack in parse(said) for frame in stack.frames if frame.cfa
    }
    # The last handlers wait for their turn to print.
    seen = 0
    for trace in found:
        signals = [at for at, each in enumerate(trace.frames) if each.signal_trampoline]
        rest = trace.frames[signals[-1] + 1 :] if signals else []
        seen += any((each.pc, each.cfa) in printed for each in rest)
    assert seen


def test_a_live_process_and_its_dump(go: GoToolchain, crashes: dict[str, Path]) -> None:
    """A goroutine that runs, and threads that wait: live, and in gcore's dump."""
    place = go.directory / "live"
    place.mkdir()
    exe = crashes["stripped"]
    with ready(exe, "spin", place, traceable=True) as process:
        time.sleep(0.1)
        live = list(chains.of_process(process.pid).values())
        core = gcore(process.pid, place / "dump")
        dumped = traces(exe, core)
        core.unlink()
    for found in (live, dumped):
        assert not insane(found)
        spinning = [trace for trace in found if trace.frames[0].function == "main.spin"]
        assert len(spinning) == 1
        names = [each.function for each in spinning[0].frames]
        assert names == ["main.spin", "main.main", "runtime.main", "runtime.goexit"]


def test_a_thread_just_made(go: GoToolchain, crashes: dict[str, Path]) -> None:
    """Behind the system call the old thread goes back to its caller. The new one has none, and the
    words above its stack are others': here the same return address.
    """
    crash = go.crash(crashes["stripped"], "deferred")
    clone = next(
        each
        for each in objdump_table.symbols(crashes["twin"])
        if each.name in ("runtime.clone", "runtime.clone.abi0")
    )
    try:
        with whocall.open_core(str(crash.core), str(crash.exe)) as image:
            at = image.index_of_crash()
            thread = image.threads[at]
            code = image.read(clone.address, clone.size)
            true = [each for each in image.backtrace(at, WALK).frames if not each.inlined]
        data = bytearray(crash.core.read_bytes())
        notes = next(at for kind, at, *_ in segments(data) if kind == PT_NOTE)
        rsp = data.index(struct.pack("<Q", thread.sp), notes)
        rip, rsi = rsp - 3 * 8, rsp - 6 * 8  # struct user_regs_struct
        behind = clone.address + code.index(SYSCALL) + len(SYSCALL)
        stack = true[0].cfa - 8
        for given, wanted in ((0, [each.pc for each in true[1:]]), (stack, [])):
            for where, value in ((rip, behind), (rsp, stack), (rsi, given)):
                struct.pack_into("<Q", data, where, value)
            crash.core.write_bytes(data)
            with whocall.open_core(str(crash.core), str(crash.exe)) as image:
                trace = image.backtrace(at, WALK)
            assert trace.frames[0].function == "runtime.clone"
            assert [each.pc for each in trace.frames[1:] if not each.inlined] == wanted
            assert trace.stop.reason == "end-of-stack"
    finally:
        crash.core.unlink()


@pytest.mark.parametrize("way", ["nil", "abort"])
def test_go_calls_c_calls_go(go: GoToolchain, way: str) -> None:
    """The stacks of C and of Go take turns; whocall finds the way through both."""
    twin = go.build("callbacks", "callbacks-twin")
    crash = go.crash(twin, way)
    try:
        found = traces(twin, crash.core)
        bare = traces(stripped(twin, f"callbacks-{way}"), crash.core)
    finally:
        crash.core.unlink()
    trace, blind = (
        next(each for each in threads if "main.main" in c_functions(each.frames))
        for threads in (found, bare)
    )
    assert chains.pcs(blind) == chains.pcs(trace)
    names = c_functions(trace.frames)
    inner = ["deep"] * 4 if way == "nil" else ["give_up"] * 3
    assert [name for name in names if name in ("deep", "give_up")] == inner
    assert names.count("crosscall2") == 3
    assert names.count("back") == 3
    assert names.count("main.nested") == 3
    assert names[-2:] == ["main.top", "main.main"]
    assert blind.frames[-1].function == "runtime.goexit"
    assert {each.trust for each in trace.frames} <= {"context", "cfi", "analysis"}


def test_panic_in_a_callback(go: GoToolchain) -> None:
    """The deferred calls have given up the frames of C: the goroutine's own stack goes on."""
    crash = go.crash(go.build("callbacks", "callbacks-bare", "-ldflags=-s -w"), "panic")
    try:
        found = traces(crash.exe, crash.core)
    finally:
        crash.core.unlink()
    stack = crash.running()
    trace = crashed(found, stack)
    assert not unlike(trace, stack), chains.listing(trace)
    lines = planted(trace)
    told = gdb_lines([(go.build("callbacks", "callbacks-twin"), lines)])
    assert list(lines.values()) == [(each.file, each.line) for each in told] != []


def test_a_stack_of_nothing_but_callbacks(go: GoToolchain) -> None:
    """The way back from a callback hangs on how many lie below; counting them anew for each frame
    took minutes.
    """
    crash = go.crash(go.build("callbacks", "callbacks-bare", "-ldflags=-s -w"), "segv")
    try:
        with whocall.open_core(str(crash.core), str(crash.exe)) as image:
            (sp,) = {thread.sp for thread in image.threads if thread.crashed}
            trace = image.backtrace(image.index_of_crash(), WALK)
        (behind, *_) = (it.pc for it in trace.frames if it.function == "runtime.cgocallback")
        data = bytearray(crash.core.read_bytes())
        words = array("Q", [behind]) * CALLBACKS
        at = offset_of(data, sp)
        data[at : at + len(words) * words.itemsize] = words.tobytes()
        notes = next(at for kind, at, *_ in segments(data) if kind == PT_NOTE)
        rip = data.index(struct.pack("<Q", sp), notes) - 3 * words.itemsize
        struct.pack_into("<Q", data, rip, behind)
        crash.core.write_bytes(data)
        with guarded(), whocall.open_core(str(crash.core), str(crash.exe)) as image:
            trace = image.backtrace(image.index_of_crash(), WALK)
        assert len(trace.frames) > CALLBACKS // 16, trace.stop  # how long one is, Go's release says
        assert trace.frames[-1].cfa > sp + (CALLBACKS - 64) * words.itemsize, "all of them"
    finally:
        crash.core.unlink()


def plain_name(name: str) -> str:
    """nm shows which calling convention a function has, and the types of generic functions; Go's
    linker writes a plain dot into symbols where its own table has the middle one.
    """
    name = re.sub(r"\.(abi0|abiinternal)$", "", name)
    return re.sub(r"\[.*\]", "[...]", name).replace("·", ".")


@pytest.mark.parametrize("bare", ["linked bare", "stripped"])
def test_every_function_of_a_stripped_program_has_its_name(
    crashes: dict[str, Path], bare: str, scoreboard: Scoreboard
) -> None:
    """No name differs from nm's of the twin, and none is missing."""
    table = whocall.open_symbols(str(crashes[bare]))
    found = {
        each.start: each.name
        for each in (table[at] for at in range(len(table)))
        if each.source == "pclntab"
    }
    true: dict[int, set[str]] = {}
    for each in nm_table.symbols(crashes["twin"], types=frozenset("tT")):
        if each.name != "runtime.etext":  # the end
            true.setdefault(each.address, set()).add(plain_name(each.name))
    wrong = [
        f"{start:#x}: {name}, not {true.get(start)}"
        for start, name in found.items()
        if plain_name(name) not in true.get(start, ())
    ]
    assert not wrong
    assert set(found) == set(true)
    scoreboard.table("Names of stripped Go programs", "program", "functions", "named").rows.append(
        (bare, len(true), len(found))
    )

"""Go programs of another instruction set, stripped: every frame of the goroutine that crashed.

The witness is the Go runtime's own traceback, printed by the crash itself.
"""

from __future__ import annotations

import pytest
from acceptance.helpers import chains
from acceptance.runtimes.gochains import c_functions, crashed, insane, traces, unlike
from acceptance.runtimes.goruns import GoToolchain, Target

from ports.sets import SETS
from whocall.base.file_search import Search

AARCH64 = SETS["aarch64"]
TARGET = Target(
    goarch="arm64",
    compiler=f"{AARCH64.triple}-gcc",
    run=(AARCH64.qemu, "-L", AARCH64.sysroot),
)
SEARCH = Search(sysroot=AARCH64.sysroot)
BARE = "-ldflags=-s -w"


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> GoToolchain:
    """Debian's Go, which builds for others too."""
    return GoToolchain(tmp_path_factory.mktemp("go"), target=TARGET)


@pytest.mark.parametrize(
    "way", ["nil", "panic", "goroutine", "deferred", "overflow", "nilfunc", "map"]
)
def test_the_goroutine_that_crashed_is_whole(go: GoToolchain, way: str) -> None:
    """Frame by frame as the runtime prints it, down to runtime.goexit."""
    crash = go.crash(go.build("crashes", "linked-bare", BARE), way)
    try:
        found = traces(crash.exe, crash.core, SEARCH)
    finally:
        crash.core.unlink()
    stack = crash.running()
    trace = crashed(found, stack)
    assert not unlike(trace, stack), chains.listing(trace)
    assert not insane(found)


@pytest.mark.parametrize("way", ["nil", "abort", "panic"])
def test_go_calls_c_calls_go(go: GoToolchain, way: str) -> None:
    """The stacks of C and of Go take turns."""
    crash = go.crash(go.build("callbacks", "callbacks-bare", BARE), way)
    try:
        found = traces(crash.exe, crash.core, SEARCH)
    finally:
        crash.core.unlink()
    trace = next(each for each in found if "main.main" in c_functions(each.frames))
    names = c_functions(trace.frames)
    assert names.count("main.nested") == 3, chains.listing(trace)
    assert names.count("crosscall2") == (0 if way == "panic" else 3)
    assert names[-2:] == ["main.top", "main.main"]
    assert trace.frames[-1].function == "runtime.goexit"
    assert {each.trust for each in trace.frames} <= {"context", "cfi", "analysis"}

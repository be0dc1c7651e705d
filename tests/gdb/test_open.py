"""`whocall open`: gdb gets cores out of what it cannot read, and its own commands are right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from acceptance.inputs.crashes import Crash, crash
from sessions import batch, refusals
from stacks import PAST_MAIN, WALK, Stack, stacks, without_whocall

BOTH = [PAST_MAIN, "thread 1", WALK, "thread 2", WALK]


@pytest.fixture(scope="module")
def plain() -> Crash:
    """The plain core and the minidump of one crash, of a program with symbols."""
    return crash("inputs", "-O1 -g -fomit-frame-pointer")


@pytest.fixture(scope="module")
def true_stacks(plain: Crash) -> list[Stack]:
    """gdb's own, of the plain core."""
    found = stacks(without_whocall(BOTH, [plain.exe, plain.core]))
    assert [name for _, name in found[0]][:2] == ["innermost", "comparing"]
    return found


@pytest.fixture(scope="module", params=["packed", "minidump"])
def opened(request: pytest.FixtureRequest, plain: Crash, tmp_path_factory: object) -> Path:
    """What gdb cannot read."""
    if request.param == "minidump":
        return plain.minidump
    assert isinstance(tmp_path_factory, pytest.TempPathFactory)
    path = tmp_path_factory.mktemp("packed") / "a core"
    subprocess.run(["zstd", "-q", "-o", path, plain.core], check=True)
    return path


def test_gdbs_own_stacks_are_those_of_the_plain_core(
    opened: Path, true_stacks: list[Stack]
) -> None:
    said = batch([f"whocall open '{opened}'", *BOTH, "thread 1", "print $_siginfo.si_signo"])
    assert stacks(said) == true_stacks
    assert said.status == 0 and "Program terminated with signal SIGSEGV" in said.out
    assert said.out.rstrip().endswith("= 11")


def test_whocall_walks_what_it_opened(opened: Path, plain: Crash) -> None:
    commands = ["whocall bt -all -no-arguments", "whocall compare"]
    here = batch([f"whocall open '{opened}'", "echo {said}", *commands])
    there = batch(["echo {said}", *commands], [plain.exe, plain.core])
    said = here.out.split("{said}")[1].replace('"waiter"', '"crashing"')  # no core tells it
    assert said == there.out.split("{said}")[1]


def test_where_the_native_module_does_not_fit(
    opened: Path, true_stacks: list[Stack], foreign: Path
) -> None:
    said = batch([f"whocall open '{opened}'", *BOTH], script=foreign)
    assert stacks(said) == true_stacks


def test_a_plain_core_and_another_after_it(plain: Crash, true_stacks: list[Stack]) -> None:
    said = batch(
        [f"whocall open {plain.minidump}", f"whocall open {plain.core} {plain.exe}", *BOTH]
    )
    assert stacks(said) == true_stacks
    assert said.status == 0, said.err


def test_what_cannot_be_opened(plain: Crash, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no core")
    wanted = {
        "whocall open": '"whocall open" needs a FILE, -last or -crash WHICH.',
        "whocall open -": "The standard input is gdb's own: name a FILE.",
        f"whocall open {tmp_path}/text": "holds no core",
        f"whocall open {tmp_path}/none": "none cannot be opened: No such file or directory",
        f"whocall open {plain.exe}": "holds no core: what is in it is a shared library or an exec",
        "whocall open -last a b": "takes a FILE, or -last or -crash WHICH, not both",
    }
    for command, complaint in refusals(wanted).items():
        assert wanted[command] in complaint, command

"""The process that reads cores in gdb's place: what it says is the same, and what ends it ends
nothing else.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from programs import Crash
from sessions import batch
from taken_over import PLANT
from terminals import PROMPT, alive, terminal
from tolerant import marked, session

OFF = "set whocall helper off"


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """A folder of the user's, with somebody who listens."""
    with socket.create_server(("127.0.0.1", 0)) as inet:
        (tmp_path / "port").write_text(str(inet.getsockname()[1]))
        yield tmp_path


MISUSE = "The sandbox ended this, as it was about to"
FAULTS = {
    "stack": "was ended by SIGSEGV: one of the files is damaged",
    "memory": "There is not enough memory for this",
    "memory of C": "was ended by SIGSEGV",
    "SIGSEGV": "was ended by SIGSEGV",
    "SIGBUS": "was ended by SIGBUS",
    "abort": "was ended by SIGABRT",
    "SIGKILL": "was killed, as the kernel does when memory runs out",
    "exit": "has ended before its time",
    "endless": "took more than 1 s of processor time",
    "exec": MISUSE,
    "connect": "Operation not permitted",
    "write": "made: Permission denied",
    "nonsense": "has ended before its time",
    "huge": "has ended before its time",
    "spoken": "answers what it cannot mean",
}
_LOAD = f"python\n{PLANT.strip()}"


def test_a_fault_is_a_sentence_and_the_next_command_works(chain: Crash, target: Path) -> None:
    lines = [_LOAD]
    for name in FAULTS:
        lines += [
            f"python plant({name!r}, {str(target)!r})",
            *marked(["whocall bt", "info threads"]),
            "python plant('')",
            *marked(["whocall bt", "python print(len(children()), helper_now() > 0)"]),
        ]
    said = session(chain, lines)
    answers = said.out.split("<{\n")[1:]
    bt = session(chain, ["whocall bt"]).out[-200:]
    assert len(answers) == 4 * len(FAULTS)
    for at, (name, sentence) in enumerate(FAULTS.items()):
        failed, threads, works, children = answers[4 * at : 4 * at + 4]
        assert sentence in failed, name
        assert len(failed.strip().splitlines()) == 1 + (name == "spoken"), failed
        assert "Thread" in threads or "LWP" in threads, threads
        assert works.endswith(bt), name
        assert children == "1 True\n", name  # no zombie beside it
        assert "\x1b" not in failed and "\x07" not in failed and "\u202e" not in failed
    assert sorted(path.name for path in target.iterdir()) == ["port"]
    assert "SUCCEEDED" not in said.out + said.err


@pytest.mark.parametrize("fault", ["stack", "SIGSEGV"])
def test_without_it_the_same_fault_ends_gdb(fault: str, chain: Crash) -> None:
    said = batch([_LOAD, OFF, f"python plant({fault!r})", "whocall bt", "echo alive\\n"],
                 [chain.exe, chain.core])  # fmt: skip
    assert said.status != 0
    assert "alive" not in said.out


ALL_COMMANDS = [
    "whocall", "whocall bt -all", "whocall compare", "whocall symbol $pc", "whocall functions x",
    "whocall modules", "whocall audit", "whocall trace", "whocall repair", "whocall export {out}",
    "whocall compare -shadow", "complete whocall functions mem", "-whocall-backtrace",
]  # fmt: skip


def test_every_command_asks_it(chain: Crash, tmp_path: Path) -> None:
    lines = [_LOAD, "python plant('SIGSEGV')"]
    commands = [
        f'interpreter-exec mi "{each}"' if each[0] == "-" else each.format(out=tmp_path / "out")
        for each in ALL_COMMANDS
    ]
    lines += marked(commands)
    said = session(chain, [*lines, "info threads"])
    answers = said.out.split("<{\n")[1:]
    for command, answer in zip(commands, answers):
        if not command.startswith("complete"):
            assert "was ended by SIGSEGV" in answer, command
    assert "LWP" in answers[-1]


def test_nothing_is_started_before_it_is_asked(chain: Crash) -> None:
    lines = [_LOAD, "bt", "help whocall bt", "show whocall helper", "whocall doctor",
             "python print(children())", "whocall bt", "python print(len(children()))",
             OFF, "whocall bt"]  # fmt: skip
    said = session(chain, lines)
    assert "\n[]\n" in said.out
    assert "\n1\n" in said.out
    assert "Reading cores in a process of its own is on." in said.out
    assert re.search(r"^helper: +on, by .*", said.out, re.MULTILINE)


def test_a_program_that_gdb_debugs_is_read_in_gdb(chain: Crash) -> None:
    lines = [_LOAD, "run", "whocall bt", "whocall repair", "python print('helper', helper_now())"]
    said = batch(lines, [chain.exe])
    assert "helper 0" in said.out, said
    assert "#0  0x" in said.out


def test_it_has_nothing_of_gdbs(chain: Crash, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    opened.write_text("text")
    look = (
        "python import os; at = f'/proc/{helper_now()}/'; "
        "print('files', sorted(os.readlink(at + 'fd/' + each).split(':')[0]"
        " for each in os.listdir(at + 'fd')));"
        "print(open(at + 'oom_score_adj').read(), open(at + 'limits').read())"
    )
    said = session(chain, [_LOAD, f"python kept = open({str(opened)!r})", "whocall bt", look])
    (files,) = re.findall(r"^files (.*)$", said.out, re.MULTILINE)
    names = re.findall(r"'([^']*)'", files)
    assert [name for name in names if name not in ("/dev/null", "pipe", str(chain.core))] == []
    assert "1000\n" in said.out
    limit = re.search(r"^Max data size +(\d+)", said.out, re.MULTILINE)
    assert limit is not None


def _gone(process: int) -> bool:
    try:
        return "(zombie)" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("fault", ["", "deaf"])
def test_it_ends_with_gdb(number: signal.Signals, fault: str, chain: Crash) -> None:
    child = terminal(chain)
    for line in ("python", *PLANT.strip().splitlines(), "end", f"python plant({fault!r})"):
        child.sendline(line)
    child.sendline("whocall symbol $pc" if fault else "python print('ready')")
    if fault:
        process = _child_of(child.pid)
    else:
        child.sendline("whocall bt")
        child.sendline("python print('helper=%d.' % helper_now())")
        child.expect(r"helper=(\d+)\.\r\n")
        process = int(child.match.group(1))
    assert not _gone(process)
    os.kill(child.pid, number if not fault else signal.SIGKILL)
    end = time.monotonic() + 20
    while not _gone(process) and time.monotonic() < end:
        time.sleep(0.02)
    assert _gone(process)
    child.close(force=True)


def _child_of(pid: int) -> int:
    """The first child, waited for."""
    while True:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if found:
            return int(found[-1])
        time.sleep(0.02)


def _at_work(parent: int) -> int:
    """The child that says so: gdb has others, which come and go."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        process = _child_of(parent)
        with suppress(FileNotFoundError):
            if Path(f"/proc/{process}/comm").read_text() == "at work\n":
                return process
        time.sleep(0.02)
    raise AssertionError("nobody is at work")


@pytest.mark.parametrize(("fault", "stays"), [("slow", True), ("deaf", False), ("endless", True)])
def test_ctrl_c_is_obeyed(fault: str, stays: bool, chain: Crash) -> None:
    child = terminal(chain)
    for line in ("python", *PLANT.strip().splitlines(), "end"):
        child.sendline(line)
    child.sendline(f"python plant({fault!r}); limits.PROCESSOR_TIME = 600")
    if stays:  # whoever obeys may be slow on a machine that has much to do
        child.sendline("python from whocall.gdb_helper import helper; helper._PATIENCE = 30")
    child.sendline("echo rea\\144y\\n")
    child.expect_exact("ready")
    child.expect_exact(PROMPT)
    child.sendline("whocall bt")
    process = _at_work(child.pid)
    begin = time.monotonic()
    child.sendintr()
    child.expect_exact("Quit")
    took = time.monotonic() - begin
    alive(child)
    assert took < 20, took  # 0.5 s on a machine that does nothing else
    assert _gone(process) is not stays
    child.sendline("python plant('')")
    child.sendline("whocall bt")
    child.expect_exact("#0  0x")
    child.sendline("info threads")
    child.expect("LWP|Thread")
    alive(child)
    child.close(force=True)


def test_the_pagers_q_leaves_it_in_order(workers: Crash) -> None:
    child = terminal(workers)
    child.sendline("set height 10")
    child.expect_exact(PROMPT)
    for _ in range(3):
        child.sendline("whocall functions")
        child.expect_exact("--Type <RET> for more, q to quit")
        child.sendline("q")
        alive(child)
    child.sendline("set height 0")
    child.sendline("whocall symbol $pc")
    child.expect(r"0x[0-9a-f]+ is ")
    child.close(force=True)

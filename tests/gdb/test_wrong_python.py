"""gdb with a Python that the native module is not built for: what works on cores all the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from mi_session import MiSession
from programs import Crash
from sessions import SCRIPT, Answer, Question, Said, asked, batch, refusals
from terminals import PAGER, PROMPT, alive, page, terminal
from wrong_gdb import loading, usable

COMPLAINT = "warning: the native module of whocall cannot be used in this gdb: "

# Of every command, and of every option and setting that reaches it.
ON_THE_CHAIN = [
    "whocall",
    "whocall bt",
    "whocall bt -full -explain",
    "whocall bt -past-main 3",
    "whocall bt -2",
    "whocall bt -without cfi,scan -all",
    "whocall compare",
    "whocall compare -json",
    "whocall functions -module chain",
    "whocall functions -json -module chain -- sub_1",
    "whocall functions ^no_such_function$",
    "whocall symbol $pc qsort $sp",
    "whocall modules",
    "whocall modules -json",
    "whocall audit -limit 1",
    "frame function __GI___qsort_r",
    "whocall",
    "set backtrace past-main on",
    "set whocall without analysis",
    "whocall bt",
    "set whocall max-frames 3",
    "whocall bt -json",
    "set width 60",
    "whocall modules",
]
ON_THE_WORKERS = [
    "whocall bt -all",
    "whocall compare -all",
    "thread 3",
    "whocall bt",
    "whocall compare",
    "thread apply 2 whocall",
]


def told(commands: Sequence[str], crash: Crash, **more: Any) -> tuple[list[str], Said]:
    """What each command printed, and the whole session."""
    marked = [line for command in commands for line in (f"echo <{{{command}}}>\\n", command)]
    said = batch(marked, [crash.exe, crash.core], **more)
    # What compares with gdb's own frames is told by the Python inside gdb alone.
    out = re.sub(r'(?m)^gdb\'s own "bt" (has|gives frames) other .*\n', "", said.out)
    return out.split("<{")[1:], said


@pytest.mark.parametrize(("program", "commands"),
                         [("chain", ON_THE_CHAIN), ("workers", ON_THE_WORKERS)])  # fmt: skip
def test_every_command_prints_what_it_prints_in_the_right_gdb(
    program: str, commands: list[str], foreign: Path, request: pytest.FixtureRequest
) -> None:
    crash = request.getfixturevalue(program)
    here, right = told(commands, crash)
    elsewhere, wrong = told(commands, crash, script=foreign)
    assert elsewhere == here
    assert len(here) == len(commands)
    assert (right.status, wrong.status) == (0, 0)
    rest = [line for line in wrong.err.splitlines() if not line.startswith(COMPLAINT)]
    assert rest == right.err.splitlines()


REPAIRED = [
    "thread apply all bt",
    "whocall repair",
    "thread apply all bt",
    "whocall repair",
    "whocall repair libc.so.6",
    "whocall repair -all",
    "info functions sub_",
    "whocall compare",
    "whocall revert",
    "thread apply all bt",
    "whocall repair",
    "bt 3",
]


def test_repair_is_the_same(foreign: Path, tmp_path: Path, workers: Crash) -> None:
    elsewhere, wrong = told(REPAIRED, workers, script=foreign, XDG_CACHE_HOME=str(tmp_path / "1"))
    here, right = told(REPAIRED, workers, XDG_CACHE_HOME=str(tmp_path / "2"))
    assert elsewhere == here
    assert (right.status, wrong.status) == (0, 0), wrong.err
    assert "sub_" not in here[0]
    assert "in sub_" in here[2]
    assert here[9].split("\n", 1)[1] == here[0].split("\n", 1)[1]


@pytest.mark.parametrize("arguments", [(), ("core",)], ids=["file", "core"])
def test_repair_and_export_of_a_file_and_a_core(
    arguments: tuple[str, ...], chain: Crash, foreign: Path, tmp_path: Path
) -> None:
    found = []
    for script in (SCRIPT, foreign):
        out = tmp_path / script.stem
        commands = ["whocall repair chain", "info functions sub_", f"whocall export {out}"]
        commands += [f"whocall export {out}.libc -module libc.so.6"] if arguments else []
        said = batch(commands, [chain.exe, *(getattr(chain, each) for each in arguments)],
                     script=script)  # fmt: skip
        assert said.status == 0, said.err
        written = [Path(f"{out}{end}").read_bytes() for end in ("", ".libc")[: len(commands) - 2]]
        found.append((said.out.replace(str(out), "OUT"), written))
    assert found[0] == found[1]
    assert "  sub_" in found[0][0]


@pytest.fixture(scope="module")
def session(chain: Crash, foreign: Path) -> dict[Question, Answer]:
    """One session in the wrong gdb answers all of them."""
    questions = ["whocall", "whocall bt", "whocall doctor", "whocall bt -json"]
    return asked(questions, [chain.exe, chain.core], script=foreign)


def test_one_warning_says_why_and_what_fixes_it(session: dict[Question, Answer]) -> None:
    said = "".join(answer.err for answer in session.values())
    (warning,) = [line for line in said.splitlines() if line.startswith("warning: ")]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert warning.startswith(f"{COMPLAINT}it is built for Python {version} ({usable()}), and")
    assert re.search(r", and this is Python 3\.\d+; (/\S*/)?python3\.\d+ runs whocall on", warning)
    fix = warning.rpartition("fix it with: ")[2]
    assert fix.endswith("/scripts/prepare demo")
    assert Path(fix.split()[-2]).is_file()


def test_the_environment_of_gdbs_own_python_is_not_handed_on(chain: Crash, foreign: Path) -> None:
    spoil = (
        "python import os; os.environ.update("
        "PYTHONHOME='/nowhere', PYTHONPATH='/nowhere', LD_LIBRARY_PATH='/nowhere')"
    )
    elsewhere, said = told([spoil, "whocall bt"], chain, script=foreign)
    assert said.status == 0, said.err
    assert "#0  0x" in elsewhere[1]


def test_doctor_names_the_other_python(session: dict[Question, Answer]) -> None:
    wanted = r"^other Python: +\S*python3\.\d+ runs whocall on core files$"
    assert re.search(wanted, session["whocall doctor"].out, re.MULTILINE)


def test_json_is_all_that_is_printed(session: dict[Question, Answer]) -> None:
    assert json.loads(session["whocall bt -json"].out)["schema"] == "whocall.backtrace/2"


def test_names_stay_as_they_are_in_the_file(chain: Crash, foreign: Path, tmp_path: Path) -> None:
    listed = subprocess.run(["nm", chain.twin], capture_output=True, text=True, check=True).stdout
    address = next(line.split()[0] for line in listed.splitlines() if line.endswith(" innermost"))
    names = tmp_path / "names.csv"
    names.write_text(f"address,name\n0x{address},_ZN5outer5innerEv\n")
    commands = [f"set whocall symbol-files {names}", "whocall symbol $pc",
                "set print demangle off", "whocall symbol $pc"]  # fmt: skip
    elsewhere, _ = told(commands, chain, script=foreign)
    assert elsewhere == told(commands, chain)[0]
    assert "outer::inner" in elsewhere[1]
    assert "_ZN5outer5innerEv" in elsewhere[3]


def test_a_second_core_beside_the_first(chain: Crash, workers: Crash, foreign: Path) -> None:
    commands = ["add-inferior -no-connection", "inferior 2", f"file {workers.exe}",
                f"core-file {workers.core}", "whocall bt -all 1", "whocall compare -all",
                "inferior 1", "whocall bt"]  # fmt: skip
    elsewhere, said = told(commands, chain, script=foreign)
    assert elsewhere == told(commands, chain)[0]
    assert said.status == 0, said.err
    assert "Thread 2.1 (LWP" in elsewhere[4]


ERRORS = {
    "whocall bt -nonsense": "its options: -all, ",
    "whocall bt -without nonsense": 'There is no strategy "nonsense"',
    "whocall functions -module no_such.so": "No module's path ends in ",
    "whocall symbol": "must be followed by",
    "whocall audit /etc/passwd": "/etc/passwd",
    "whocall signatures -output /dev/null/x /dev/null": "/dev/null",
    "whocall repair no_such.so": "No module no_such.so is loaded",
    "whocall repair -nonsense": "its options: -all",
    "whocall revert": "There is nothing to take back",
    "whocall export": "needs the name of the file to write",
    "whocall export /dev/null/x": "/dev/null/x: cannot be written",
    "whocall export -module no_such.so /dev/null/x": "No module no_such.so is loaded",
}


def test_errors_are_those_of_the_right_gdb(chain: Crash, foreign: Path) -> None:
    files = [chain.exe, chain.core]
    wrong = refusals(ERRORS, files, script=foreign)
    assert wrong == refusals(ERRORS, files)
    assert {command: part for command, part in ERRORS.items() if part not in wrong[command]} == {}
    last = list(ERRORS)[-1]
    _, said = told([last], chain, script=foreign)
    assert (said.err.splitlines()[-1], said.status) == (wrong[last].rstrip(), 1)


def test_without_a_core_nothing_is_run(foreign: Path) -> None:
    said = batch(["whocall bt"], script=foreign)
    assert (said.out, said.status) == ("", 1)
    assert said.err.startswith("The program has no registers now.")


def test_a_running_program_has_to_be_dumped_and_that_works(
    chain: Crash, foreign: Path, tmp_path: Path
) -> None:
    core = tmp_path / "live.dump"
    said = batch(["run", "whocall bt"], [chain.exe], script=foreign)
    assert said.status == 1
    sentence = said.err.splitlines()[-1]
    assert "fix it with: " in sentence
    dump, show = re.findall(r'"([^"]*FILE[^"]*)"', sentence)
    commands = [step.replace("FILE", str(core)) for step in (dump, show)]
    said = batch(["run", *commands], [chain.exe], script=foreign)
    walked = told(["whocall bt"], Crash(chain.exe, chain.twin, core))[0][0].splitlines()
    assert [line for line in walked if line.startswith("#")] == [
        line for line in said.out.splitlines() if line.startswith("#") and line.endswith("]")
    ]


def test_the_machine_interface_answers_the_same(chain: Crash, foreign: Path) -> None:
    answers = []
    for script in (SCRIPT, foreign):
        with MiSession(["-ex", f"source {script}", chain.exe, chain.core]) as mi:
            mi.ask("-thread-info")
            answers.append(mi.ask("-whocall-backtrace --past-main 4"))
    assert [answer.kind for answer in answers] == ["done", "done"]
    assert answers[0].results == answers[1].results


def test_where_no_python_can_load_a_module_the_sentence_is_the_error(
    chain: Crash, tmp_path: Path
) -> None:
    hide = "python import whocall.base.loader as l; l.checkout = lambda: None"
    damaged = tmp_path / "whocall" / usable().name
    damaged.parent.mkdir()
    damaged.write_bytes(b"no module")
    script = loading(tmp_path / "wrong.gdb", tmp_path)
    said = batch([hide, "whocall bt"], [chain.exe, chain.core], script=script)
    assert said.status == 1
    complaints = [line for line in said.err.splitlines() if "native module" in line]
    assert len(complaints) == 1
    assert complaints[0].startswith("The native module of whocall cannot be used: ")


def test_colours_and_the_pager_are_gdbs(chain: Crash, foreign: Path) -> None:
    child = terminal(chain, script=foreign, term="xterm-256color")
    child.sendline("set style enabled on")
    child.sendline("set style function foreground red")
    child.sendline("whocall symbol qsort")
    child.expect(r"\x1b\[31[0-9;]*mqsort")  # later gdbs write every attribute
    page(child, 10)
    child.sendline("whocall functions")
    child.expect_exact(PAGER)
    child.sendline("q")
    alive(child)
    child.close(force=True)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """The other Python never comes to an end, and tells its number; the script that loads us."""
    module = tmp_path / "build" / "whocall"
    module.mkdir(parents=True)
    for path in usable().parent.glob("*.so"):
        (module / path.name).symlink_to(path)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    python = tmp_path / name
    python.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} "$@"\n'
        f'echo "$@" >{tmp_path}/words\n'
        f"echo $$ >{tmp_path}/number.new; mv {tmp_path}/number.new {tmp_path}/number\n"
        "exec sleep 1000\n"
    )
    python.chmod(0o755)
    return loading(tmp_path / "wrong.gdb", module.parent)


def _until(what: Callable[[], bool]) -> None:
    while not what():  # the runner's own limit ends a test that waits for ever
        time.sleep(0.02)


@pytest.mark.parametrize("everyone", [True, False], ids=["Ctrl-C", "gdb alone"])
def test_an_interrupt_ends_the_other_process(
    everyone: bool, chain: Crash, endless: Path, tmp_path: Path
) -> None:
    child = terminal(chain, script=endless, PATH=f"{tmp_path}:{os.environ['PATH']}")
    child.sendline("whocall bt")
    number = tmp_path / "number"
    _until(number.exists)
    process = Path("/proc") / number.read_text().strip()
    assert process.exists()
    assert "--announce" in (tmp_path / "words").read_text().split()  # somebody waits
    if everyone:
        child.sendintr()
    else:
        os.kill(child.pid, signal.SIGINT)
    child.expect_exact("Quit")
    child.expect_exact(PROMPT)
    assert not process.exists()
    child.close(force=True)

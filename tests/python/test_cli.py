"""The command line: arguments, errors, exit statuses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from whocall.base.errors import Error
from whocall.base.version import __version__
from whocall.cli import main as cli
from whocall.cli.commands import bt, doctor

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_version() -> None:
    ran = run("--version")
    assert (ran.stdout, ran.returncode) == (f"whocall {__version__}\n", 0)


def test_script_path() -> None:
    assert run("--script-path").stdout == f"{SCRIPT}\n"


@pytest.mark.parametrize(
    "arguments",
    [(), ("nonsense",), ("bt",), ("bt", "core", "--pid", "1"), ("bt", "core", "--nonsense"),
     ("bt", "core", "-n", "0"), ("bt", "core", "-n", "9" * 30), ("bt", "core", "--width", "9" * 30),
     ("bt", "core", "--max-frames", "9" * 30), ("symbol", "/bin/true")],
)  # fmt: skip
def test_wrong_usage_is_status_2(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [("bt", "/nowhere/core"), ("modules", "/nowhere/core"), ("functions", "/nowhere/file"),
     ("symbol", "/nowhere/file", "1"), ("symbol", "/bin/true", "xyz"), ("bt", "/etc/passwd"),
     ("bt", "--pid", "999999999")],
)  # fmt: skip
def test_errors_are_status_1_and_one_sentence(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.startswith("whocall: ")
    assert len(ran.stderr.splitlines()) == 1


def test_what_only_our_commands_in_gdb_say_is_in_no_help() -> None:
    for command in ("bt", "modules", "repair-plan"):
        told = run(command, "--help").stdout
        assert "--debug-directory" in told
        assert not {"--announce", "--inferior", "--settings-of-gdb"} & set(told.split())
        assert "--announce" not in told


def test_options_may_stand_between_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(bt, "run", lambda arguments: seen.append(arguments) or 0)
    assert cli.main(["bt", "CORE", "--all", "EXE", "-n", "-3"]) == 0
    assert (seen[0].core, seen[0].exe, seen[0].all, seen[0].count) == ("CORE", "EXE", True, -3)


def test_interrupted_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupted)
    assert cli.main(["doctor"]) == 130


def test_an_error_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(arguments: object) -> int:
        raise Error("two\nlines")

    monkeypatch.setattr(doctor, "run", failing)
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "whocall: two\\nlines\n"


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    ran = subprocess.run(
        f"'{sys.executable}' '{SCRIPT}' functions /bin/bash | head -n 1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.stdout.splitlines()[-1] == "0"
    assert ran.stderr == ""


def test_gdb_gets_everything_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setenv("GDB", "some-gdb")
    monkeypatch.setattr(os, "execvp", lambda file, words: started.append((file, words)) or 1)
    cli.main(["gdb", "--args", "prog", "--help"])
    assert started == [
        ("some-gdb", ["some-gdb", "-ex", f"source {SCRIPT}", "--args", "prog", "--help"])
    ]


def test_no_gdb() -> None:
    ran = run("gdb", GDB="/nowhere/gdb")
    assert ran.returncode == 1
    assert "install gdb" in ran.stderr


def test_functions_of_a_file() -> None:
    ran = run("functions", "/lib/x86_64-linux-gnu/libc.so.6", "^qsort$")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].endswith(" qsort")


def test_doctor() -> None:
    ran = run("doctor")
    assert ran.returncode == 0
    assert "libdebuginfod:" in ran.stdout
    assert "Everything is in order." in ran.stdout


@pytest.mark.parametrize(("arguments", "said"), [
    (("bt", "core", "--nonsense"),
     'unrecognized arguments: --nonsense; "whocall bt --help" tells what there is'),
    (("repair", "core"),
     '"whocall repair" is a command in gdb alone; "whocall gdb" starts one that has it'),
    (("traige",), 'there is no command "traige"; did you mean "whocall triage"?'),
    (("nonsense",), 'there is no command "nonsense"; "whocall --help" lists them'),
    ((), 'name a command first: "whocall --help" lists them'),
])  # fmt: skip
def test_wrong_usage_is_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    assert run(*arguments).stderr == f"whocall: {said}\n"


@pytest.mark.parametrize("color", ["sometimes", "function=red", "nothing=33", "function"])
def test_colours_that_cannot_be_are_wrong_usage(color: str) -> None:
    ran = run("functions", "/bin/true", "--color", color)
    assert ran.returncode == 2
    assert f"not '{color}'" in ran.stderr


@pytest.mark.parametrize(
    ("color", "shown"),
    [("always", "\x1b[32m/bin/true\x1b[0m: "), ("filename=1;35", "\x1b[1;35m/bin/true\x1b[0m: "),
     ("filename=", "/bin/true: "), ("never", "/bin/true: "), ("auto", "/bin/true: ")],
)  # fmt: skip
def test_colours_as_wanted(color: str, shown: str) -> None:
    assert run("functions", "/bin/true", "--color", color).stdout.startswith(shown)


def test_frames_of_gdb_that_are_none(tmp_path: Path) -> None:
    from whocall.cli.gdb_reference import stacks_from

    assert stacks_from({"7": {"frames": [], "stop": "x"}}, [9])[9].stop == "x"
    assert stacks_from({"7": {"frames": [], "stop": "x"}}, [7, 9])[9].frames == []


def test_a_gdb_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a core whose list of libraries leads gdb round and round."""
    from whocall.cli import gdb_reference

    endless = tmp_path / "gdb"
    endless.write_text("#!/bin/sh\nwhile :; do :; done\n")
    endless.chmod(0o755)
    monkeypatch.setattr(gdb_reference, "GDB_TIME", 1)
    _, said = gdb_reference._ran(str(endless), [], lambda: None, None)
    assert said.startswith("it reached its limit of processor time (1 s,")


def test_another_python_that_can_do_it_is_named() -> None:
    foreign = (
        "import sys, importlib.machinery as m; m.EXTENSION_SUFFIXES[:] = ['.cpython-399-x.so'];"
        "from whocall.cli.main import main; sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", foreign, "bt", "/nowhere/the core"],
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("", 1)
    (sentence,) = ran.stderr.splitlines()
    command = shlex.split(sentence.partition("; run instead: ")[2])
    assert command[1:] == [str(SCRIPT), "bt", "/nowhere/the core"]
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.stderr.startswith("whocall: /nowhere/the core: ")


def test_without_the_native_module(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(
        SCRIPT.parent, tmp_path / "ext", ignore=shutil.ignore_patterns("__pycache__", "*.so")
    )
    environment = {"WHOCALL_BUILD_DIR": str(tmp_path), "PATH": os.environ["PATH"]}
    for arguments, status in ((["bt", "core"], 1), (["doctor"], 1), (["--version"], 0)):
        ran = subprocess.run(
            [sys.executable, str(tmp_path / "ext" / "whocall.py"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == status
        assert "Traceback" not in ran.stderr
        assert ("pip install" in ran.stdout + ran.stderr) == (status == 1)


def test_what_is_to_be_looked_at_has_to_be_one() -> None:
    none, both = run("bt"), run("bt", "core", "--pid", "7")
    assert (none.returncode, both.returncode) == (2, 2)
    assert "nothing was named: give a CORE, or --pid N, or --last" in none.stderr
    assert "one of these, not several: give a CORE" in both.stderr

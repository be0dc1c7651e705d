"""While debuginfod servers send: a person at a terminal sees what comes, and Ctrl-C ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
from oracles.tools import environment, run

from acceptance.helpers.scoreboard import Scoreboard
from acceptance.modules.debuginfod_server import answering, asking, hanging
from acceptance.modules.debuginfod_sessions import LOCAL, terminal
from acceptance.modules.module_crashes import SCRIPT, Crashed, build_directory


def interrupted(child: subprocess.Popen[str]) -> float:
    """Ctrl-C; the seconds until the end."""
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)  # far less than the server's 90 seconds
    return time.monotonic() - begin


def test_ctrl_c_ends_a_fetch(crash: Crashed, tmp_path: Path, scoreboard: Scoreboard) -> None:
    with hanging() as (url, came):
        env = asking(url, tmp_path / "cache", DEBUGINFOD_TIMEOUT="90")
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), "bt", str(crash.core), "--debuginfod"],
            env={**environment(), "WHOCALL_BUILD_DIR": build_directory(), **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert came.wait(60)
            seconds = interrupted(child)
            assert child.returncode == 130
            assert child.stdout is not None and child.stdout.read() == ""
    table = scoreboard.table("Ctrl-C while a debuginfod server hangs", "where", "seconds")
    table.rows.append(("command line", seconds))


def test_ctrl_c_ends_a_fetch_in_gdb(crash: Crashed, tmp_path: Path, scoreboard: Scoreboard) -> None:
    with hanging() as (url, came):
        child = terminal(crash, asking(url, tmp_path / "cache", DEBUGINFOD_TIMEOUT="90"))
        child.sendline("whocall bt")
        assert came.wait(60)
        begin = time.monotonic()
        child.sendintr()
        child.expect_exact("(gdb) ", timeout=30)
        seconds = time.monotonic() - begin
        assert "Quit" in child.before
        assert "#0" not in child.before
        child.sendline("set whocall debuginfod off")
        child.expect_exact("(gdb) ")
        child.sendline("whocall bt")
        child.expect_exact("#0")
        child.expect_exact("(gdb) ")
        child.sendline("quit")
        child.expect(pexpect.EOF)
    table = scoreboard.table("Ctrl-C while a debuginfod server hangs", "where", "seconds")
    table.rows.append(("gdb", seconds))


def debug_info(crash: Crashed, tmp_path: Path) -> bytes:
    """Of the library."""
    file = tmp_path / "debug"
    run(["objcopy", "--only-keep-debug", str(crash.twin("libsteps.so")), str(file)])
    return file.read_bytes()


def test_a_person_sees_what_comes(crash: Crashed, tmp_path: Path) -> None:
    """In gdb and on the command line; never amid JSON."""
    sentence = rf"Downloading [\d.]+ [KM]B separate debug info for {crash.library}"
    with answering(debug_info(crash, tmp_path), pause=0.5) as url:
        child = terminal(crash, asking(url, tmp_path / "first"))
        child.sendline("whocall bt")
        child.expect(sentence)
        child.expect_exact("(gdb) ")
        assert LOCAL[0] in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child = terminal(crash, asking(url, tmp_path / "second"))
        child.sendline("whocall bt -json")
        child.expect_exact("(gdb) ")
        assert f'"function": "{LOCAL[0]}"' in child.before
        assert "Downloading" not in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)
        for number, option in enumerate(("--past-main", "--json")):
            env = asking(url, tmp_path / f"cache{number}")
            child = pexpect.spawn(
                sys.executable,
                [str(SCRIPT), "bt", str(crash.core), "--debuginfod", option],
                env={**environment(), "WHOCALL_BUILD_DIR": build_directory(), **env},
                encoding="utf-8",
                timeout=60,
            )
            child.expect(pexpect.EOF)
            assert ("Downloading" in child.before) == (option != "--json")
            assert LOCAL[0] in child.before


def test_a_person_sees_it_where_another_python_does_the_work(
    crash: Crashed, tmp_path: Path
) -> None:
    """The servers are gdb's own setting, of which another process does not know."""
    foreign = "import importlib.machinery as m; m.EXTENSION_SUFFIXES[:] = ['.cpython-399-x.so']"
    with answering(debug_info(crash, tmp_path), pause=1) as url:
        env = asking("http://127.0.0.1:1", tmp_path / "cache")
        child = terminal(crash, env, "-iex", f"python {foreign}")
        child.sendline(f"set debuginfod urls {url}")
        child.expect_exact("(gdb) ")
        child.sendline("whocall bt")
        child.expect(rf"Downloading [\d.]+ [KM]B separate debug info for {crash.library}")
        assert "#0" not in child.before
        child.expect_exact("(gdb) ")
        assert LOCAL[0] in child.before
        assert f"debug info for {crash.library}" not in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)

"""What users do with commands of gdb's: apply, pipe, log, alias, hook; and with odd names."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import Crash
from sessions import GDB, SCRIPT, Question, asked, batch, environment

ROOT = Path(__file__).resolve().parents[2]
ODD = 'it\'s "odd" %s %n \\ $x\nname'


def said(crash: Crash, *commands: str) -> list[str]:
    ran = batch(["echo \\n{said}\\n", *commands], [crash.exe, crash.core])
    assert ran.status == 0
    return ran.out.split("{said}\n")[1].splitlines()


def told(crash: Crash, *questions: Question) -> list[list[str]]:
    """The lines that each question brings, all in one session."""
    answers = asked(questions, [crash.exe, crash.core])
    assert all(answer.err == "" for answer in answers.values())
    return [answer.out.splitlines() for answer in answers.values()]


def test_apply(workers: Crash) -> None:
    bts, one, frames, all_threads = told(
        workers, "thread apply all -q whocall bt 1", "thread apply 2 -q whocall",
        "frame apply 3 -q whocall", "thread apply all -s -q whocall",
    )  # fmt: skip
    assert sum(line.startswith("#0 ") for line in bts) == 4
    assert len(one) == 1
    # Since glibc 2.41 pause calls others.
    assert one[0].startswith(("pause was called by ", "__syscall_cancel_arch was called by "))
    assert (len(frames), len(all_threads)) == (3, 4)


def test_pipe_alias_hook_and_define(chain: Crash) -> None:
    text = "print(gdb.execute('whocall bt', to_string=True), end='')"
    whole, piped, *rest = told(
        chain, "whocall bt", "pipe whocall bt | head -3", ("alias wb = whocall bt", "wb"),
        f"python {text}",
    )  # fmt: skip
    assert len(whole) > 3
    assert piped == whole[:3]
    assert rest == [whole, whole]


def test_scripts_and_hooks(chain: Crash, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        "define who\nwhocall bt $arg0\nend\ndefine hook-who\necho before\\n\nend\n"
        "define hookpost-who\necho after\\n\nend\nwho 1\n"
    )
    lines = said(chain, f"source {script}")
    assert (lines[0], lines[-1]) == ("before", "after")
    assert " was ended by SIGSEGV " in lines[1]
    assert lines[3].startswith("#0 ")


@pytest.mark.parametrize("way", ["-x", ".gdbinit"])
def test_loaded_before_the_program(way: str, chain: Crash, tmp_path: Path) -> None:
    (tmp_path / ".gdbinit").write_text(f"source {SCRIPT}\nsource {SCRIPT}\n")
    options = ["-nx", "-x", str(SCRIPT)] if way == "-x" else []
    ran = subprocess.run(
        [GDB, *options, "-q", "-batch", "-ex", "whocall bt 1", str(chain.exe), str(chain.core)],
        env=environment(HOME=str(tmp_path)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    # Their folders may have that name.
    assert "whocall" not in ran.stdout.replace(str(chain.exe), "").replace(str(ROOT), "")
    assert re.search(r"^#0  0x[0-9a-f]+ in sub_", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_odd_names(locale: str, chain: Crash, tmp_path: Path) -> None:
    # Later gdbs take the name of a core on their command line for one with quotes and escapes.
    release = batch(["python print(gdb.VERSION.partition('.')[0])"]).out.split()[-1]
    exe, core = tmp_path / ODD, tmp_path / (f"core {ODD}" if int(release) < 16 else "core")
    shutil.copy(chain.exe, exe)
    shutil.copy(chain.core, core)
    ran = batch(["whocall bt -json", "whocall"], [exe, core], LC_ALL=locale)
    assert ran.err == ""
    assert str(exe)[:40] in ran.out
    live = batch(["set startup-with-shell off", "run", "whocall bt 2"], [exe], LC_ALL=locale)
    assert live.err == ""
    assert "#1 " in live.out


LANGUAGES = ["ada", "asm", "modula-2", "pascal", "rust", "unknown"]


def test_the_language_does_not_matter(chain: Crash) -> None:
    forget = "python import whocall.gdb.target.inferior as i; i.forget()"
    bt = "whocall bt -all"
    live = asked(
        [("set startup-with-shell off", "run"), bt,
         *((f"set language {language}", forget, bt) for language in LANGUAGES)],
        [chain.exe],
    )  # fmt: skip
    _, before, *after = live.values()
    assert "SIGSEGV" in before.out
    lines = before.out[before.out.index("Thread 1 ") :].splitlines()
    assert any(line.startswith("#8 ") for line in lines)
    assert [answer.out.splitlines()[: len(lines)] for answer in after] == [lines] * len(LANGUAGES)


SETTINGS = [
    "set output-radix 16", "set input-radix 16", "set print symbol off",
    "set width 40", "set print elements 4", "set print max-symbolic-offset 1", "set confirm off",
    "set host-charset ASCII", "set print repeats 1",
]  # fmt: skip


def test_gdbs_other_settings_do_not_disturb(chain: Crash) -> None:
    commands = ["whocall bt -full", "whocall", "whocall symbol $pc", "whocall compare"]
    quiet = tuple(f"python gdb.execute({setting!r}, to_string=True)" for setting in SETTINGS)
    again = [(command, "echo") for command in commands]  # which adds nothing
    answers = told(chain, *commands, quiet, *again)
    assert answers[:4] == answers[5:]
    assert all(answers[:4])

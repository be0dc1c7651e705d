"""What users do with commands of gdb's: apply, pipe, log, alias, hook; and with odd names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import Crash
from sessions import GDB, SCRIPT, batch, environment

ODD = 'it\'s "odd" %s %n \\ $x\nname'


def said(crash: Crash, *commands: str) -> list[str]:
    ran = batch(["echo \\n{said}\\n", *commands], [crash.exe, crash.core])
    assert ran.status == 0
    return ran.out.split("{said}\n")[1].splitlines()


def test_apply(workers: Crash) -> None:
    lines = said(workers, "thread apply all -q whocall bt 1", "thread apply 2 -q whocall")
    assert sum(line.startswith("#0 ") for line in lines) == 4
    assert lines[-1].startswith("pause was called by ")
    lines = said(workers, "frame apply 3 -q whocall", "thread apply all -s -q whocall")
    assert len(lines) == 3 + 4


def test_pipe_alias_hook_and_define(chain: Crash) -> None:
    whole = said(chain, "whocall bt")
    assert said(chain, "pipe whocall bt | head -3") == whole[:3]
    assert said(chain, "alias wb = whocall bt", "wb") == whole
    text = "print(gdb.execute('whocall bt', to_string=True), end='')"
    assert said(chain, f"python {text}") == whole


def test_scripts_and_hooks(chain: Crash, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        "define who\nwhocall bt $arg0\nend\ndefine hook-who\necho before\\n\nend\n"
        "define hookpost-who\necho after\\n\nend\nwho 1\n"
    )
    lines = said(chain, f"source {script}")
    assert (lines[0], lines[-1]) == ("before", "after")
    assert lines[1].startswith("#0 ")


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
    assert "whocall" not in ran.stdout
    assert re.search(r"^#0  0x[0-9a-f]+ in sub_", ran.stdout, re.MULTILINE)


def test_gdb_multiarch_is_as_gdb(chain: Crash) -> None:
    multiarch = shutil.which("gdb-multiarch")
    assert multiarch, "gdb-multiarch is not installed: scripts/prepare tests installs it"
    if os.environ.get("WHOCALL_BUILD_DIR", "").endswith("release"):
        ran = subprocess.run(
            [multiarch, "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}", "-ex", "whocall bt",
             str(chain.exe), str(chain.core)],
            env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert ran.stdout.splitlines()[-9:] == said(chain, "whocall bt")[-9:]


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


@pytest.mark.parametrize("language", ["ada", "asm", "modula-2", "pascal", "rust", "unknown"])
def test_the_language_does_not_matter(language: str, chain: Crash) -> None:
    live = batch(["set startup-with-shell off", "run", "echo \\n{a}\\n", "whocall bt -all",
                  f"set language {language}", "python import whocall.gdb.inferior as i; i.forget()",
                  "echo {a}\\n", "whocall bt -all"], [chain.exe])  # fmt: skip
    assert live.status == 0, live.err
    before, after = (part.splitlines() for part in live.out.split("{a}\n")[1:])
    assert "SIGSEGV" in after[0]
    assert [line for line in before if line.startswith(("#", "Thread"))] == after[: len(before)]


SETTINGS = [
    "set output-radix 16", "set input-radix 16", "set print address off", "set print symbol off",
    "set width 40", "set print elements 4", "set print max-symbolic-offset 1", "set confirm off",
    "set print frame-info short-location", "set host-charset ASCII", "set print repeats 1",
]  # fmt: skip


def test_gdbs_other_settings_do_not_disturb(chain: Crash) -> None:
    commands = ["whocall bt -full", "whocall", "whocall symbol $pc", "whocall compare"]
    quiet = [f"python gdb.execute({setting!r}, to_string=True)" for setting in SETTINGS]
    assert said(chain, *quiet, *commands) == said(chain, *commands)

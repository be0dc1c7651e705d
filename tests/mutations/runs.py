"""Commands in processes of their own, and what is wrong with how they ended."""

from __future__ import annotations

import faulthandler
import http.client
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from mutations.forms import IN_GDB, Form, Given
from whocall.commands import module_name, own_names

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS = 5.0
MEMORY_BYTES = 1 << 30
"""What a run may cost, with all processes that it began."""
STOPPED_AFTER = 60
"""Seconds of processor time, after which nobody waits any longer."""
HANGS_AFTER = 240
TOLD = 1 << 20
"""Bytes of an output that are looked at."""
MARK = "=== still here"
GDBS_OWN = {
    each: "bt" if each in ("whocall compare", "whocall repair") else "echo"
    for commands in IN_GDB
    for each in commands
    if "whocall" in each
}
"""What a session without us does instead: `compare` and the `bt` after `repair` are gdb's work."""
_FAULT = re.compile(r"Traceback \(most|Python Exception|whocall failed|internal-error|"
                    r"terminate called")  # fmt: skip
_CONTROL = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)


@dataclass
class Ran:
    """How a run ended. Seconds are processor time."""

    status: int
    seconds: float
    memory: int
    out: str
    err: str
    faults: list[str] = field(default_factory=list)


def _text(descriptor: int) -> str:
    """All of it, or its beginning and its end."""
    size = os.fstat(descriptor).st_size
    if size <= 2 * TOLD:
        return os.pread(descriptor, size, 0).decode("utf-8", "backslashreplace")
    ends = os.pread(descriptor, TOLD, 0) + b"\n...\n" + os.pread(descriptor, TOLD, size - TOLD)
    return ends.decode("utf-8", "ignore")


def loaded() -> None:
    """What every child would import."""
    main = import_module("whocall.cli.main")
    assert main is not None
    for name in own_names():
        import_module(f"whocall.cli.commands.{module_name(name)}")


def _child(words: list[str], folder: Path, out: int, err: int) -> int:
    os.setpgid(0, 0)
    signal.alarm(HANGS_AFTER)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (STOPPED_AFTER, STOPPED_AFTER))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout, sys.stderr = (os.fdopen(each, "w", closefd=False) for each in (1, 2))
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    sys.argv = ["whocall", *words]
    status: int = import_module("whocall.cli.main").main()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def run(form: Form, given: Given) -> Ran:
    """One run of the command line; the process that calls it has loaded() all there is to load."""
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if child == 0:
        status = 70
        try:
            status = _child(form.words(given), given.folder, out, err)
        except BaseException:
            import traceback

            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)
    _, ended, usage = os.wait4(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    ran = Ran(
        status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, _text(out), _text(err)
    )
    whole = os.fstat(out).st_size <= 2 * TOLD
    os.close(out)
    os.close(err)
    ran.faults = _faults(form, ran, whole)
    if form.name == "compare" and ran.seconds > CPU_SECONDS:
        alone = _gdb(given, ("bt",))  # which may find no end in its reading of the core
        ran.faults = [
            *(each for each in ran.faults if not each.endswith(" s")),
            *_cost(ran.seconds - alone.seconds, 0),
        ]
    return ran


def _cost(seconds: float, memory: int) -> list[str]:
    found = [f"{seconds:.2f} s"] if seconds > CPU_SECONDS else []
    return found + ([f"{memory >> 20} MiB"] if memory > MEMORY_BYTES else [])


def _faults(form: Form, ran: Ran, whole: bool) -> list[str]:
    found = _cost(ran.seconds, ran.memory)
    if ran.status < 0:
        found.append(f"died of {signal.Signals(-ran.status).name}")
    elif ran.status > 1:
        found.append(f"exit status {ran.status}: {ran.err[-200:]}")
    elif ran.status == 1 and "whocall: " not in ran.err:
        found.append(f"no sentence: {ran.err[-200:]}")
    for text in (ran.out, ran.err):
        fault = _FAULT.search(text)
        if fault and not (form.takes == "log" and text is ran.out):
            found.append(text[fault.start() :][:600])
        control = _CONTROL.search(text)
        if control:
            found.append(f"not printable: {text[max(0, control.start() - 60) :][:120]!r}")
    if form.json and ran.status == 0 and whole:
        try:
            json.loads(ran.out)
        except ValueError as error:
            found.append(f"no JSON: {error}")
    return found


def _asked(address: SplitResult, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address.netloc, timeout=HANGS_AFTER)
    try:
        connection.request("GET", address.path + path)
        answer = connection.getresponse()
        return answer.status, answer.read(TOLD).decode("utf-8", "replace")
    finally:
        connection.close()


def served(given: Given) -> Ran:
    """`whocall serve` shows its list and the page of the core, and goes on."""
    assert given.core is not None
    words = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "serve", str(given.core.parent)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(given.folder / "cache")}
    with subprocess.Popen(
        [*words, "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", env=environment,
    ) as server:  # fmt: skip
        assert server.stdout is not None and server.stderr is not None
        line = server.stdout.readline()
        faults = []
        try:
            address = urlsplit(line.split()[0])
            for path in ("", f"report/{given.core.name}", f"report/{given.core.name}?json"):
                status, text = _asked(address, path)
                if status not in (200, 422) or _FAULT.search(text):
                    faults.append(f"{path}: {status} {text[:300]}")
            if server.poll() is not None:
                faults.append(f"the server ended with {server.poll()}")
        except (IndexError, OSError, http.client.HTTPException) as error:
            faults.append(f"{line!r}: {error!r}")
        finally:
            server.terminate()  # SIGINT may be ignored where this runs in the background
        said = server.stderr.read()
        server.stdout.read()
        _, status, usage = os.wait4(server.pid, 0)
        server.returncode = os.waitstatus_to_exitcode(status)
    if _FAULT.search(said):
        faults.append(said[:600])
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    faults += _cost(seconds, memory)
    return Ran(server.returncode, seconds, memory, "", said, faults)


def _gdb(given: Given, commands: tuple[str, ...]) -> Ran:
    script = ROOT / "gdbext" / "whocall.py"
    files = [f"core-file {given.core}"]
    if given.program is not None:
        files.insert(0, f"file {given.program}")
    lines = [f"source {script}", *files, *commands, f"echo {MARK}\\n", "info threads"]
    words = [os.environ.get("GDB", "gdb"), "-nx", "-q", "-batch"]
    words += ["-iex", "set debuginfod enabled off", "-iex", "set auto-load no"]
    words += [word for line in lines for word in ("-ex", line)]
    environment = {**os.environ, "TERM": "dumb", "XDG_CACHE_HOME": str(given.folder / "cache")}
    environment.pop("PYTHONPATH", None)

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (STOPPED_AFTER, STOPPED_AFTER))

    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            cwd=given.folder, env=environment, preexec_fn=limits,
        )  # fmt: skip
        begin = time.monotonic()
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - begin > HANGS_AFTER:
                process.kill()
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        text = _text(out.fileno())
    seconds = usage.ru_utime + usage.ru_stime
    return Ran(process.returncode, seconds, usage.ru_maxrss << 10, text, "")


def run_in_gdb(given: Given, commands: tuple[str, ...]) -> Ran:
    """One session of gdb, which answers what it is asked after our commands. What gdb does without
    them too is gdb's own.
    """
    ran = _gdb(given, commands)
    found = []
    if ran.status < 0 or MARK not in ran.out:
        found.append(f"gdb ended with {ran.status}: {ran.out[-300:]}")
    elif ran.out.rpartition(MARK)[2].strip() == "":
        found.append("`info threads` says nothing")
    fault = _FAULT.search(ran.out)
    if fault:
        found.append(ran.out[fault.start() :][:600])
    found += _cost(ran.seconds, ran.memory)
    if found:
        alone = _gdb(
            given,
            tuple(GDBS_OWN.get(each, "echo" if "whocall" in each else each) for each in commands),
        )
        same = alone.status < 0 or MARK not in alone.out
        if same:
            found = []
        elif all(each.endswith((" s", " MiB")) for each in found):
            found = _cost(ran.seconds - alone.seconds, ran.memory - alone.memory)
    ran.faults = found
    return ran


def emptied(folder: Path) -> None:
    """What a run wrote is gone."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()

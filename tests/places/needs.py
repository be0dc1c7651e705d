"""What a place has to allow for a test to show anything, tried once a session and never guessed.

A test that cannot be shown says which need is refused, and by what: it is skipped, counted, and
never passes. Nothing else skips (`tests/conftest.py` sees to that): a tool that is missing is a
failure. Tests ask by a marker, fixtures by `require`:

    @pytest.mark.needs("mounts of its own")
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from places import mounts

NOT_SHOWN = "cannot be shown here"
OWN_MOUNTS = "mounts of its own"
OWN_ROOT = "a root directory of its own"
KERNEL_CORES = "core files by the kernel"
OWN_CORES = "core files by an emulator"
FIXED_ADDRESSES = "programs at the same addresses each time"
OTHER_OWNERS = "files of other users"
ATTACHING = "attaching to other processes"
CONTAINERS = "a container of its own"
OTHERS_CORES = "cores of other projects"
OTHERS_RIGHTS = "programs with another user's rights"
CAPABLE_FILES = "programs with capabilities of their own"

UNPRIVILEGED = Path(__file__).resolve().parents[2] / "scripts" / "unprivileged"
OTHERS = Path(__file__).resolve().parents[3] / "shared" / "cores"


def _said(ran: subprocess.CompletedProcess[str]) -> str | None:
    """What a command that failed says."""
    lines = (ran.stderr or ran.stdout).strip().splitlines()
    return None if ran.returncode == 0 else lines[-1] if lines else f"exit {ran.returncode}"


def _in_child(action: Callable[[], None]) -> str | None:
    """What another process, which may lose something by it, is told."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            action()
        except (OSError, ValueError) as error:
            os.write(there, str(error).encode())
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said or None


def _own_mounts() -> str | None:
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, mounts.__file__, "mount", "-t", "tmpfs", "none", place]
        return _said(subprocess.run(command, capture_output=True, text=True, check=False))


def as_root() -> list[str]:
    """What lets us change the root directory; another user is one in a namespace of its own."""
    return [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]


def _own_root() -> str | None:
    command = [*as_root(), "chroot", "/", "true"]
    return _said(subprocess.run(command, capture_output=True, text=True, check=False))


def raise_core_limit() -> None:
    """To where no limit is; OSError or ValueError where the system's own stands in the way."""
    endless = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_CORE, (endless, endless))


def allow_cores() -> None:
    """Of the process that is about to start: cores of any size, as far as that is ours to say."""
    try:
        raise_core_limit()
    except (OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def _kernel_cores() -> str | None:
    with tempfile.TemporaryDirectory() as place:
        died = subprocess.Popen(["sh", "-c", "kill -SEGV $$"], cwd=place, preexec_fn=allow_cores)
        if died.wait() != -signal.SIGSEGV:
            return f"a process survives SIGSEGV: {died.returncode}"
        if any(path.stat().st_size for path in Path(place).glob("core*")):
            return None
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return f"core_pattern is {pattern!r}, the hard limit {limit}"


def _own_cores() -> str | None:
    """An emulator writes them itself, if its limit lets it."""
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0:
        return None
    refused = _in_child(raise_core_limit)
    return refused and f"the hard limit on core files is 0: {refused}"


def _fixed_addresses() -> str | None:
    command = ["setarch", "--addr-no-randomize", "true"]
    return _said(subprocess.run(command, capture_output=True, text=True, check=False))


def _other_owners() -> str | None:
    with tempfile.NamedTemporaryFile() as file:
        return _in_child(lambda: os.chown(file.name, 12345, 12345))


def _attaching() -> str | None:
    """gdb, a child of ours, attaches to another child."""
    with subprocess.Popen(["sleep", "60"]) as other:
        command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
        command += ["-ex", f"attach {other.pid}", "-ex", "detach"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        other.kill()
    refused = [line for line in ran.stderr.splitlines() if "ptrace" in line]
    return refused[0] if refused else None


def _containers() -> str | None:
    command = [sys.executable, str(UNPRIVILEGED), "true"]
    return _said(subprocess.run(command, capture_output=True, text=True, check=False))


def _others_cores() -> str | None:
    return None if OTHERS.is_dir() else f"there is no {OTHERS}"


def as_stranger() -> list[str]:
    """Begins a command that is to be run by a user who owns nothing."""
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]


def _others_rights() -> str | None:
    """Below /tmp, which every user may enter; a file system may refuse such rights, too."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        program = shutil.copy(shutil.which("id") or "/usr/bin/id", place)
        Path(program).chmod(0o4755)
        command = [*as_stranger(), program, "-u"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return _said(ran) or (None if ran.stdout == "0\n" else f"id says {ran.stdout.strip()}")


def give_capability(program: str | Path) -> subprocess.CompletedProcess[str]:
    """The right to write to every file, to whoever runs it."""
    command = ["setcap", "cap_dac_override+ep", str(program)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _capable_files() -> str | None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        program = shutil.copy(shutil.which("cat") or "/usr/bin/cat", place)
        refused = _said(give_capability(program))
        command = [*as_stranger(), program, "/proc/self/status"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line for line in ran.stdout.splitlines() if line.startswith("CapEff:")]
    given = any(int(line.split()[1], 16) for line in found)
    return refused or _said(ran) or (None if given else f"cat's own status: {found}")


PROBES: dict[str, Callable[[], str | None]] = {
    OWN_MOUNTS: _own_mounts,
    OWN_ROOT: _own_root,
    KERNEL_CORES: _kernel_cores,
    OWN_CORES: _own_cores,
    FIXED_ADDRESSES: _fixed_addresses,
    OTHER_OWNERS: _other_owners,
    ATTACHING: _attaching,
    CONTAINERS: _containers,
    OTHERS_CORES: _others_cores,
    OTHERS_RIGHTS: _others_rights,
    CAPABLE_FILES: _capable_files,
}


@cache
def refusal(need: str) -> str | None:
    """What stands in the way, in the words of whatever refuses; None where nothing does."""
    return PROBES[need]()


def require(*needs: str) -> None:
    """Go on only where all of them are met."""
    for need in needs:
        refused = refusal(need)
        if refused is not None:
            pytest.skip(f"{NOT_SHOWN}: {need}: {refused}")

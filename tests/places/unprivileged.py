"""A container as build services give it, made out of any root: Docker's default, without Docker.

What it has: a root user with Docker's capabilities and its filter of system calls, processes of
its own, the few devices, a /proc and a /sys of which nothing may be changed, 64 MiB of /dev/shm.
What it shares: files, network.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
from pathlib import Path

from places import seccomp
from places.capabilities import give_up
from places.mounts import CLONE_NEWNS, called, mount, own_mounts

CLONE_NEWIPC, CLONE_NEWPID = 0x08000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC = 0x1000, 0x4000
PR_SET_PDEATHSIG = 1

CAPABILITIES = {
    "chown": 0, "dac_override": 1, "fowner": 3, "fsetid": 4, "kill": 5, "setgid": 6, "setuid": 7,
    "setpcap": 8, "net_bind_service": 10, "net_raw": 13, "sys_chroot": 18, "mknod": 27,
    "audit_write": 29, "setfcap": 31,
}  # fmt: skip
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
         "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"}  # fmt: skip
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", "/sys")
MASKED = ("/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug",
          "/proc/timer_list")  # fmt: skip


def _make_devices() -> None:
    """In a new /dev, whose devices are those of the old one."""
    old = os.open("/dev", os.O_PATH)
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536k")
    for name in DEVICES:
        Path("/dev", name).touch()
        mount(f"/proc/self/fd/{old}/{name}", f"/dev/{name}", flags=MS_BIND)
    for name, target in LINKS.items():
        Path("/dev", name).symlink_to(target)
    for name in ("pts", "shm", "mqueue"):
        Path("/dev", name).mkdir()
    terminals = "newinstance,ptmxmode=0666,mode=0620"
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, terminals)
    mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777,size=65536k")
    os.close(old)


def _make_mounts() -> None:
    plain = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("proc", "/proc", "proc", plain)
    _make_devices()
    if not Path("/sys/kernel").exists():
        mount("sysfs", "/sys", "sysfs", plain)
    for path in READ_ONLY:
        if Path(path).exists():
            mount(path, path, flags=MS_BIND | MS_REC)
            mount("", path, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | plain)
    for path in MASKED:
        if Path(path).exists():
            mount("/dev/null", path, flags=MS_BIND)


def _first_process(command: list[str], cores: bool, attaching: bool) -> None:
    """Of the container; ends with its parent, and all others with it."""
    called("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    called("unshare", CLONE_NEWNS | CLONE_NEWIPC)
    _make_mounts()
    if not cores:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seccomp.install(attaching)
    give_up(but=CAPABILITIES.values())
    os.execvp(command[0], command)


def run(command: list[str], cores: bool = True, attaching: bool = True) -> int:
    """The exit status of the command, as a shell has it."""
    own_mounts()
    called("unshare", CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        try:
            _first_process(command, cores, attaching)
        except OSError as error:
            print(f"unprivileged: {error}", file=sys.stderr)
        os._exit(126)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the command's, which has this terminal
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/unprivileged",
        description=(__doc__ or "").partition(":")[0] + ".",
        epilog="Run as root, which is where it starts from. Nothing is left behind.",
    )
    parser.add_argument("--no-cores", action="store_true", help="no core file is written there")
    parser.add_argument(
        "--no-attaching",
        action="store_true",
        help="a debugger has only what it starts, as where Yama or an old kernel decides",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        parser.error("which command is to be run?")
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        parser.error("this takes root, on x86-64")
    return run(command, not arguments.no_cores, not arguments.no_attaching)

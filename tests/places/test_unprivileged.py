"""The container refuses what Docker's default refuses, allows the rest, and leaves nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from places import needs
from places.needs import CONTAINERS, UNPRIVILEGED

pytestmark = pytest.mark.needs(CONTAINERS)

TESTS = Path(needs.__file__).parents[1]

CALLS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *unused) { return unused; }
#define TELL(call) (errno = 0, (void)!(call), printf("%s: %d\n", #call, errno))
int main(void) {
  pthread_t thread;
  pid_t child = fork();
  if (!child)
    for (;;) pause();
  TELL(unshare(CLONE_NEWNS));
  TELL(unshare(CLONE_NEWUSER));
  TELL(mount("none", "/mnt", "tmpfs", 0, ""));
  TELL(umount2("/proc", MNT_DETACH));
  TELL(syscall(SYS_setns, -1, 0));
  TELL(syscall(SYS_pivot_root, "/", "/"));
  TELL(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
  TELL(syscall(SYS_bpf, 0, 0, 0));
  TELL(syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
  TELL(syscall(SYS_userfaultfd, 0));
  TELL(syscall(SYS_clone3, 0, 0));
  TELL(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  TELL(syscall(SYS_personality, ADDR_NO_RANDOMIZE));
  TELL(syscall(SYS_personality, 0xffffffff));
  TELL(pthread_create(&thread, 0, nothing, 0));
  TELL(ptrace(PTRACE_ATTACH, child, 0, 0));
  TELL(chroot("/"));
  kill(child, SIGKILL);
}
"""
EPERM, ENOSYS = 1, 38
ANSWERS = [*[EPERM] * 10, ENOSYS, *[EPERM] * 2, *[0] * 4]

PROBES = """
import json, sys
from places import needs
print(json.dumps({name: needs.refusal(name) for name in needs.PROBES if name != needs.CONTAINERS}))
"""


def test_without_attaching(tmp_path: Path) -> None:
    """A debugger has what it starts, and nothing else."""
    words = ["env", f"PYTHONPATH={TESTS}", sys.executable, "-c", PROBES]
    found = json.loads(said("--no-attaching", *words))
    assert "ptrace: Operation not permitted" in found[needs.ATTACHING]
    gdb = ["gdb", "-nx", "-q", "-batch", "-ex", "run", "--args", "/bin/echo", "it runs"]
    assert "it runs" in said("--no-attaching", *gdb)


def said(*words: str | Path) -> str:
    command = [sys.executable, UNPRIVILEGED, *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("width", ["-m64", "-m32"])
def test_system_calls(width: str, tmp_path: Path) -> None:
    program = tmp_path / "calls"
    command = ["gcc", width, "-w", "-pthread", "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=CALLS, text=True, check=True)
    told = [line.rpartition(": ")[::2] for line in said(program).splitlines()]
    assert [int(answer) for _, answer in told] == ANSWERS, told


def test_its_privileges() -> None:
    status = said("cat", "/proc/self/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["CapEff"] == fields["CapBnd"] == "00000000a80425fb"
    assert fields["Seccomp"] == "2"
    assert fields["Uid"].split() == ["0"] * 4


@pytest.mark.parametrize("cores", [True, False])
def test_what_is_needed_there(cores: bool) -> None:
    options = [] if cores else ["--no-cores"]
    words = [*options, "env", f"PYTHONPATH={TESTS}", sys.executable, "-c", PROBES]
    found = json.loads(said(*words))
    assert "Operation not permitted" in found[needs.OWN_MOUNTS]
    assert "Operation not permitted" in found[needs.FIXED_ADDRESSES]
    assert found[needs.ATTACHING] is None
    assert found[needs.OWN_ROOT] is None
    assert found[needs.OTHER_OWNERS] is None
    if not cores:
        assert "hard limit 0" in found[needs.KERNEL_CORES]
        assert "hard limit on core files is 0" in found[needs.OWN_CORES]


def test_it_is_a_container_and_leaves_nothing(tmp_path: Path) -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    shell = "echo $$; ls /dev; echo x 2>&1 >/proc/sys/kernel/core_pattern || true"
    first, *devices, refused = said("sh", "-c", f"exec 2>&1; {shell}").splitlines()
    assert first == "1"
    assert "Read-only file system" in refused
    assert not [name for name in devices if name.startswith(("sd", "vd", "nvme", "kmsg", "mem"))]
    assert Path("/proc/self/mountinfo").read_text() == mounts
    ran = subprocess.run([sys.executable, UNPRIVILEGED, "--", "sh", "-c", "exit 9"], check=False)
    assert ran.returncode == 9

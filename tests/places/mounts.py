"""Run a command with mounts of its own, of which nobody outside sees anything, in any root.

    python3 mounts.py COMMAND...

`unshare --mount` cannot do this in a root that is no mount point: the mounts of the new namespace
belong to the same peer groups as those outside until they are made private, and mount(2) does that
from a mount point on only. Nothing below such a root need be one, but the root of the namespace is:
a process that joins a namespace, be it its own, has that for its root. From there all is made
private. Then the root where it was becomes that of the namespace, so that what the command starts
may do the same as anywhere (make mounts private, have user namespaces, which a chroot cannot).
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def called(name: str, *arguments: object) -> None:
    """A function of the C library that answers zero; OSError names it where it does not."""
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2); an empty word stands for none."""
    words = [word.encode() or None for word in (source, target, kind, data)]
    called("mount", *words[:3], ctypes.c_ulong(flags), words[3])


def _become_root_of_a_user_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    called("unshare", CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def own_mounts() -> None:
    """From now on this process, which has one thread, has mounts of its own. OSError: refused."""
    if os.geteuid() != 0:
        _become_root_of_a_user_namespace()
    called("unshare", CLONE_NEWNS)
    names = os.open("/proc/self/fd", os.O_RDONLY)
    root, here = os.open("/", os.O_PATH), os.open(".", os.O_PATH)
    own = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    called("setns", own, CLONE_NEWNS)
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    if os.path.samestat(os.fstat(root), Path("/").stat()):
        os.fchdir(here)
    else:
        _make_root(*(os.readlink(str(each), dir_fd=names) for each in (root, here)))
    for each in (names, root, here, own):
        os.close(each)


def _make_root(root: str, here: str) -> None:
    """Of a folder, as the namespace's root has it; and go to another one below it."""
    mount(root, root, flags=MS_BIND | MS_REC)
    os.chdir(root)
    try:
        called("pivot_root", b".", b".")
        called("umount2", b".", MNT_DETACH)  # what was the root lies above the new one
    except OSError:  # the namespace has the kernel's first root, which cannot be exchanged
        os.chroot(".")
    os.chdir(here[len(root) :] or "/")


def main() -> None:
    """Run the command line; what is refused is said, and the status is 125 then."""
    try:
        own_mounts()
    except OSError as error:
        print(f"mounts.py: {error.strerror}", file=sys.stderr)
        sys.exit(125)
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()

"""Running programs in the root: chroot, in namespaces of one's own, where the kernel hands arm64
programs to qemu-user (binfmt_misc, which since Linux 6.7 each user namespace may have for itself).

Nothing is mounted or registered outside, and no rights are needed but those to make namespaces.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from artifact_cache import default_place

from arm64 import ROOT, Arm64Error

_HEADER = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
# F: opened now, as it is not in the root. P: the program's own name stays.
_ENTER = r"""
set -e
if mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null; then
  printf '%s' ":arm64:M::$HEADER:$MASK:$QEMU:PF" >/proc/sys/fs/binfmt_misc/register
fi
mount -t tmpfs none "$0/tmp"
for folder in /proc /sys /dev $SHARED; do
  mkdir -p "$0$folder"
  mount --rbind "$folder" "$0$folder"
done
exec chroot "$0" "$@"
"""
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
_OF_THE_SYSTEM = (
    "/usr/aarch64-linux-gnu",
    "/usr/arm-linux-gnueabihf",
    "/usr/mips-linux-gnu",
    "/usr/mipsel-linux-gnu",
    "/usr/mips64el-linux-gnuabi64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-musl",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
)
"""What cores name, where it is named."""


NOTHING_KEPT = {"WHOCALL_CACHE": "off"}
"""More of it: facts of files that the other side may have kept are none."""


def environment(build: Path) -> dict[str, str]:
    """Of whocall on either side."""
    return {
        **_ENVIRONMENT,
        "WHOCALL_BUILD_DIR": str(build),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(ROOT / "gdbext"),
    }


class Emulated:
    """The root, entered anew for each command."""

    def __init__(self, place: Path, work: Path) -> None:
        self._root = place / "root"
        self._qemu = place / "qemu"
        store = Path(os.environ.get("WHOCALL_TEST_CACHE") or default_place())
        shared = [ROOT, work, store, *map(Path, _OF_THE_SYSTEM)]
        self._shared = [str(folder) for folder in shared if folder.is_dir()]
        said = self.run(["uname", "-m"], {"PATH": "/usr/bin:/bin"})
        if said.stdout.strip() != "aarch64":
            raise Arm64Error(
                "arm64 programs do not run here, which takes a kernel from 6.7 on that lets "
                f"everyone make namespaces ({(said.stdout + said.stderr).strip()})"
            )

    def run(
        self, command: Sequence[str | Path], variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """The command in the root with these variables alone; in the same folder as here."""
        own = ["unshare", "--user", "--map-root-user", "--mount", "--fork", "--kill-child"]
        settings = [f"{name}={value}" for name, value in variables.items()]
        return subprocess.run(
            [*own, "sh", "-c", _ENTER, str(self._root), "env", "-i", *settings, *map(str, command)],
            env={
                "PATH": os.environ["PATH"],
                "HEADER": _HEADER,
                "MASK": _MASK,
                "QEMU": str(self._qemu),
                "SHARED": " ".join(self._shared),
            },
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            stdin=subprocess.DEVNULL,
        )

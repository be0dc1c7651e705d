"""Mounts of one's own are seen by nobody else, in a root that is a mount point and in one that is
none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from places import mounts
from places.needs import OWN_MOUNTS

pytestmark = pytest.mark.needs(OWN_MOUNTS)

ALONE = [sys.executable, mounts.__file__]

# In a folder whose mounts are shared with others, as a system's are that systemd started, a root.
SHARED = """
set -e
cd {place}
mount -t tmpfs none outer
mount --make-shared outer
mkdir outer/root
for each in bin lib lib64 lib32 usr etc proc dev {home}; do
  [ -d /$each ] || continue
  mkdir -p outer/root/$each
  mount --rbind /$each outer/root/$each
done
mkdir -p outer/root/inner
cat /proc/self/mountinfo >before
{chroot} {python} {helper} \\
  sh -ec 'unshare --mount true; mount -t tmpfs none {inner}; touch {inner}/seen
          cat /proc/self/mountinfo' >inside
cat /proc/self/mountinfo >after
! [ -e {inner_outside}/seen ]
"""


def run_in(place: Path, chroot: str, inner: str, outside: str) -> None:
    script = SHARED.format(
        place=place, chroot=chroot, python=sys.executable, helper=mounts.__file__, inner=inner,
        inner_outside=outside, home=str(Path(mounts.__file__).parents[2]).lstrip("/"),
    )  # fmt: skip
    (place / "outer").mkdir()
    ran = subprocess.run([*ALONE, "sh", "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"{inner} " in (place / "inside").read_text()


@pytest.mark.parametrize("kind", ["shared mounts", "chroot"])
def test_nobody_else_sees_them(kind: str, tmp_path: Path) -> None:
    mine = Path("/proc/self/mountinfo").read_text()
    if kind == "chroot":
        root = tmp_path / "outer" / "root"
        run_in(tmp_path, f"chroot {root}", "/inner", str(root / "inner"))
    else:
        inner = str(tmp_path / "outer" / "root" / "inner")
        run_in(tmp_path, "", inner, inner)
    before, after = ((tmp_path / name).read_text() for name in ("before", "after"))
    assert after == before
    assert Path("/proc/self/mountinfo").read_text() == mine


def test_the_folder_stays_and_the_status_is_the_commands(tmp_path: Path) -> None:
    command = [*ALONE, "sh", "-c", "pwd; exit 7"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 7
    assert os.path.samefile(ran.stdout.strip(), tmp_path)  # noqa: PTH121

"""What a parser that was taken over can read, and what not: what its user may read, and that it can
tell nobody. `docs/sandbox.md` says why. Each line of the table there is one of these.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.commands import SCRIPT, Place
from places.needs import OTHER_OWNERS

from whocall.base.native_module import native

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
NOBODY = 65534

TAKEN = r"""
import os, sys
sys.path.insert(0, {package!r})
from pathlib import Path
from whocall.base.native_module import native
from whocall.base.sandbox import confine

if {old!r}:
    import ctypes, struct
    rows = ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000))
    code = b"".join(struct.pack("<HBBI", *row) for row in rows)
    kept = ctypes.create_string_buffer(code)
    program = struct.pack("<HxxxxxxQ", len(rows), ctypes.addressof(kept))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
    assert native.sandbox_support()[0] == 0
confine()  # as `whocall bt CORE` does, with nothing to write

def tried(name, work):
    try:
        print(name, work())
    except OSError as error:
        print(name, "refused", error.errno)

folder = Path({folder!r})
tried("file", lambda: (folder / "outside").read_text())
tried("folder", lambda: sorted(path.name for path in folder.iterdir())[0])
tried("secret", lambda: Path({secret!r}).read_text())
tried("memory", lambda: len(Path("/proc/{other}/mem").open("rb").read(0)))
tried("tell by a file", lambda: (folder / "told").write_text("x"))
tried("tell by a fifo", lambda: os.open(folder / "fifo", os.O_WRONLY | os.O_NONBLOCK))
tried("tell by a name", lambda: os.mkdir(folder / "told"))
tried("tell by a link", lambda: os.symlink("told", folder / "link"))
tried("tell by a device", lambda: os.open("/dev/full", os.O_WRONLY))
tried("tell by a time", lambda: os.utime(folder / "outside"))
"""


def _taken(folder: Path, secret: str, other: int, *start: str, old: bool = False) -> dict[str, str]:
    """What came of each attempt; `old`: where the kernel has no Landlock."""
    (folder / "outside").write_text("secret")
    os.mkfifo(folder / "fifo")
    names = {
        "package": str(SCRIPT.parent),
        "folder": str(folder),
        "secret": secret,
        "other": other,
        "old": old,
    }
    text = TAKEN
    for name, value in names.items():
        text = text.replace(f"{{{name}!r}}", repr(value)).replace(f"{{{name}}}", str(value))
    ran = subprocess.run(
        [*start, sys.executable, "-c", text], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    lines = [line.rpartition(" ") if "refused" not in line else line.partition(" refused")
             for line in ran.stdout.splitlines()]  # fmt: skip
    return {name: "refused" if "refused" in what + value else value for name, what, value in lines}


@pytest.mark.parametrize("old", [False, True], ids=["", "without Landlock"])
def test_what_its_user_may_read(old: bool, tmp_path: Path) -> None:
    """A core names files anywhere, and they are to be read: no place is closed to it. But what it
    reads it can tell nobody: not by a file, a name, a time, a pipe or a device.
    """
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as other:
        found = _taken(tmp_path, "/etc/hostname", other.pid, old=old)
        other.kill()
    assert found["file"] == "secret"
    assert found["folder"] == "fifo"
    telling = {name: how for name, how in found.items() if name.startswith("tell")}
    assert len(telling) == 6
    assert set(telling.values()) == {"refused"}, found
    if not old and native.sandbox_support()[0]:  # which refuses what needs the right to trace
        assert found["memory"] == "refused"


@pytest.mark.needs(OTHER_OWNERS)
def test_another_users_files_stay_closed(tmp_path: Path) -> None:
    """As the kernel has it: the sandbox gives no right that its user has not."""
    secret = tmp_path / "secret"
    secret.write_text("nobody:$6$...")
    secret.chmod(0o600)
    os.chown(secret, NOBODY, NOBODY)
    found = _taken(tmp_path, str(secret), 1, *WITHOUT_RIGHTS)
    assert found["secret"] == "refused"
    assert found["file"] == "secret"


@pytest.mark.parametrize("what", ["/dev/zero", "/dev/full", "fifo"])
def test_what_is_no_file_is_not_opened_by_whocall_itself(
    what: str, place: Place, tmp_path: Path
) -> None:
    """Parsers that are as they were made open regular files alone, looked at before."""
    path = Path(what)
    if what == "fifo":
        path = tmp_path / what
        os.mkfifo(path)
    (tmp_path / place.exe.name).symlink_to(path)
    command = [
        sys.executable,
        SCRIPT,
        "bt",
        place.core,
        "--search",
        tmp_path,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode in (0, 1)
    assert "Traceback" not in ran.stderr

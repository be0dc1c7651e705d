"""Bare roots of Debian's releases, what is installed in them, and commands that run there.

They lie in ~/.cache/whocall-roots ($WHOCALL_ROOTS): RELEASE.bare as debootstrap makes it, and
copies with more in them. Everything needs root, as /proc and /dev are mounted, in a namespace of
its own.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
PLACE = Path(os.environ.get("WHOCALL_ROOTS", CACHE / "whocall-roots"))
RELEASES = ("bookworm", "trixie", "testing")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
OURS = "/etc/ssl/this-machine.crt"
"""In a root: installed packages write the file of the usual name anew."""

# What is mounted in a root is gone when the command that was run there has ended.
ALONE = ("unshare", "--mount", "--propagation", "private", "--fork", "--pid", "--kill-child")
ENTER = """
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
exec chroot "$0" "$@"
"""


class Ran(NamedTuple):
    """A command that has ended in a root."""

    status: int
    seconds: float
    said: str


class RootError(Exception):
    """A root could not be made, or a command that has to succeed in it failed."""


def checked(*command: str | Path) -> None:
    """Runs it; RootError with the end of what it said where it fails."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        end = (done.stdout + done.stderr).strip().splitlines()[-15:]
        raise RootError(f"{command[0]} failed:\n" + "\n".join(end))


def _archive() -> str:
    """Debian's, as apt has it here."""
    words = ["--format", "$(REPO_URI)", "Created-By: Packages", "Component: main", "Origin: Debian"]
    found = subprocess.run(
        ["apt-get", "indextargets", *words], capture_output=True, text=True, check=False
    )
    uris = [uri for uri in found.stdout.split() if "security" not in uri]
    return uris[0] if uris else "http://deb.debian.org/debian"


def _settings_of_apt() -> Iterator[str]:
    """What says how to reach an archive."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    for line in dump.stdout.splitlines():
        if re.match(r'Acquire::(\w+::)?(Proxy|Check-|Retries|Timeout|CaInfo)[\w:-]* "[^"]', line):
            yield line


def bare(release: str) -> Path:
    """The root that debootstrap makes, without anything more; made once on a machine."""
    if os.geteuid() != 0:
        raise RootError("run it as root: it mounts /proc and /dev into the roots")
    made = PLACE / f"{release}.bare"
    if made.exists():
        _name_archives(made)
        return made
    if shutil.which("debootstrap") is None:
        raise RootError("no debootstrap: apt-get install debootstrap")
    new = PLACE / f"{release}.new"
    checked("rm", "-rf", "--one-file-system", new)
    scripts = Path("/usr/share/debootstrap/scripts")  # a newer release is made as unstable is
    script = [] if (scripts / release).exists() else [scripts / "sid"]
    alone = ("unshare", "--mount", "--propagation", "private")  # it mounts /proc
    checked(*alone, "debootstrap", "--variant=minbase", release, new, _archive(), *script)
    _name_archives(new)
    new.rename(made)
    return made


def _name_archives(root: Path) -> None:
    """This machine's way to archives, which may have changed since the root was made."""
    settings = "\n".join(_settings_of_apt()) + "\n"
    (root / "etc/apt/apt.conf.d/90this-machine").write_text(settings)
    if CERTIFICATES.exists():
        (root / OURS[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CERTIFICATES, root / OURS[1:])


def root_with(release: str, purpose: str, packages: Sequence[str]) -> Path:
    """A root of a release with these packages and what they depend on, for one purpose; it is used
    again, where the machine keeps it, until other packages are wanted.
    """
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / f"{release}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two at a time would make the same root
        return _root_with(release, purpose, packages)


def _root_with(release: str, purpose: str, packages: Sequence[str]) -> Path:
    root = PLACE / f"{release}-{purpose}"
    wanted = " ".join(packages)
    done = root / "etc" / "whocall-packages"
    if not done.exists() or done.read_text() != wanted:
        checked("rm", "-rf", "--one-file-system", root)
        checked("cp", "-a", bare(release), root)
        name_hosts(root)
        install = "apt-get -y --no-install-recommends -o DPkg::Lock::Timeout=600 install"
        said(root, f"apt-get -qq update && {install} {wanted}")
        done.write_text(wanted)
    name_hosts(root)
    return root


def name_hosts(root: Path) -> None:
    """This machine's way to names of others."""
    for name in ("resolv.conf", "hosts"):
        if Path("/etc", name).exists():
            shutil.copyfile(Path("/etc", name), root / "etc" / name)


def _environment() -> list[str]:
    """Of commands in a root: how to reach the network, and nothing else of this machine."""
    how = r"(https?|no|ftp)_proxy|PIP_(INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)|WHOCALL_JOBS"
    kept = [
        f"{name}={value}"
        for name, value in os.environ.items()
        if re.fullmatch(how, name, re.IGNORECASE)
    ]
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    certificate = [f"PIP_CERT={OURS}"] if CERTIFICATES.exists() else []
    settings = ["HOME=/root", "TERM=dumb", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
    return ["env", "-i", path, *settings, *certificate, *kept]


def inside(root: Path, command: str, folder: str = "/root", log: Path | None = None) -> Ran:
    """A shell command in a root; what it says can be read in `log` meanwhile."""
    shell = [*_environment(), "sh", "-ec", f"cd {folder}\n{command}"]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        output = log or Path(place) / "said"
        with output.open("w") as file:
            done = subprocess.run(
                [*ALONE, "sh", "-c", ENTER, str(root), *shell],
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        said = output.read_text(errors="replace")
    return Ran(done.returncode, time.monotonic() - started, said)


def said(root: Path, command: str, folder: str = "/root") -> str:
    """What a command that has to succeed says; RootError with its end where it fails."""
    ran = inside(root, command, folder)
    if ran.status:
        end = "\n".join(ran.said.strip().splitlines()[-30:])
        raise RootError(f"in {root.name}: {command}\nfailed:\n{end}")
    return ran.said


def copy_checkout(root: Path, folder: str) -> None:
    """The files of the project that are or could be committed, as they are, and nothing else."""
    into = root / folder.lstrip("/")
    checked("rm", "-rf", into)
    into.mkdir(parents=True)
    git = ["git", "-C", str(CHECKOUT), "-c", f"safe.directory={CHECKOUT}", "ls-files", "-z"]
    listing = subprocess.run(
        [*git, "--cached", "--others", "--exclude-standard"], capture_output=True, check=True
    ).stdout
    for name in filter(None, listing.decode().split("\0")):
        if not (CHECKOUT / name).is_file():
            continue  # deleted, and not yet committed so
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, into / name)

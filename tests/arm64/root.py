"""A root of the distribution's own release for arm64: its packages unpacked, not installed.

No maintainer script runs, so nobody's rights are needed; what scripts would have made and something
here asks for is made by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from arm64 import ROOT, Arm64Error

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PLACE = Path(os.environ.get("WHOCALL_ROOTS") or CACHE / "whocall-roots") / "arm64"
ARCHITECTURE = "arm64"
QEMU = "usr/bin/qemu-aarch64-static"
EMULATOR_PACKAGES = ("qemu-user", "qemu-user-static")
"""Since Debian 13 the first has what the second had."""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
PLAIN = ("base-files", "base-passwd", "bash", "coreutils", "dash", "diffutils", "findutils", "grep")
SYSTEM = (*PLAIN, "gzip", "hostname", "libc-bin", "mawk", "perl-base", "sed", "tar", "util-linux")
TESTING = ("doctest-dev", "g++")
LINKS = {"usr/bin/awk": "mawk", "usr/bin/sh": "dash"}
MERGED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")


def _run(command: Sequence[str | Path], place: Path | None = None) -> str:
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        end = (done.stdout + done.stderr).strip().splitlines()[-5:]
        raise Arm64Error(f"{command[0]} failed: " + " / ".join(end))
    return done.stdout


def _release() -> str:
    """Of this system: the cross compiler's C library is the one of that release."""
    text = Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)", text, re.MULTILINE)
    if found is None or not re.search(r"^ID=debian$", text, re.MULTILINE):
        raise Arm64Error("not a Debian: the packages of its arm64 cannot be had by these names")
    return found[1]


def _archive() -> str:
    """As apt has it here."""
    words = ["--format", "$(REPO_URI)", "Created-By: Packages", "Component: main", "Origin: Debian"]
    found = _run(["apt-get", "indextargets", *words]).split()
    uris = [uri for uri in found if "security" not in uri]
    if not uris:
        raise Arm64Error("apt knows no archive of Debian: its packages for arm64 cannot be had")
    return uris[0]


class _Apt:
    """apt with lists, cache and (no) installed packages of its own, for one architecture."""

    def __init__(self, place: Path) -> None:
        self._place = place
        for name in ("lists/partial", "archives/partial"):
            (place / name).mkdir(parents=True)
        (place / "status").touch()
        source = f"deb [signed-by={KEYRING}] {_archive()} {_release()} main\n"
        (place / "sources.list").write_text(source)
        self.ask("apt-get", "-o", "APT::Update::Error-Mode=any", "update")

    def ask(self, command: str, *words: str) -> str:
        """What it prints."""
        settings = {
            "Dir::State": self._place,
            "Dir::State::status": self._place / "status",
            "Dir::Cache": self._place,
            "Dir::Etc::sourcelist": self._place / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",
            "APT::Architecture": ARCHITECTURE,
            "APT::Architectures": ARCHITECTURE,
        }
        options = [f"-o{name}={value}" for name, value in settings.items()]
        return _run([command, "-qq", *options, *words])

    def chosen(self, words: Sequence[str]) -> Iterator[str]:
        """Of each `a|b` the first that the release has for arm64."""
        said = self.ask("apt-cache", "policy", *"|".join(words).split("|"))
        known = set(
            re.findall(r"^(\S+):\n(?:  .*\n)*?  Candidate: (?!\(none\))", said, re.MULTILINE)
        )
        for word in words:
            found = next((name for name in word.split("|") if name in known), None)
            if found is None:
                raise Arm64Error(f"Debian's {_release()} has no {word} for {ARCHITECTURE}")
            yield found

    def download(self, packages: Sequence[str]) -> list[Path]:
        """The packages and what they depend on; apt checks their SHA256."""
        self.ask("apt-get", "--download-only", "--yes", "install", *packages)
        return sorted((self._place / "archives").glob("*.deb"))


def _build_packages() -> list[str]:
    """What `scripts/prepare demo` installs: so the names are held to be right on arm64 too."""
    script = '. "$0"; printf "%s\\n" "${build_packages[@]}"'
    return _run(["bash", "-c", script, ROOT / "scripts" / "packages.sh"]).split()


def _merge(root: Path) -> None:
    """/bin, /lib and their like become links, as on every machine of today."""
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir():
            _run(["cp", "-a", "--remove-destination", f"{root / name}/.", root / "usr" / name])
            shutil.rmtree(root / name)
        (root / name).symlink_to(f"usr/{name}")


def _finish(root: Path, packages: Sequence[Path]) -> None:
    """What maintainer scripts make, and the list of what is installed."""
    for name, target in LINKS.items():
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(target)
    for name in ("passwd", "group"):
        shutil.copy(root / "usr/share/base-passwd" / f"{name}.master", root / "etc" / name)
    with (root / "var/lib/dpkg/status").open("w") as status:
        for package in packages:
            head, _, rest = _run(["dpkg-deb", "-f", package]).partition("\n")
            status.write(f"{head}\nStatus: install ok installed\n{rest}\n")


def _unpack_emulator(place: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        for package in EMULATOR_PACKAGES:
            folder = Path(name) / package
            folder.mkdir()
            if not _downloaded(package, folder):
                continue
            _run(["dpkg", "-x", next(folder.glob("*.deb")), folder])
            for program in (folder / QEMU, folder / QEMU.replace("-static", "")):
                if program.exists() and _is_static(program):
                    shutil.copy(program.resolve(), place / "qemu")
                    return
    raise Arm64Error(f"apt-get could not download {' or '.join(EMULATOR_PACKAGES)}")


def _downloaded(package: str, folder: Path) -> bool:
    try:
        _run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package], folder)
    except Arm64Error:
        return False
    return True


def _is_static(program: Path) -> bool:
    """In the root nothing of this machine's is there for it."""
    return "INTERP" not in _run(["readelf", "-lW", program])


def made() -> Path:
    """The folder that holds `root` and `qemu`; made when it is missing or of another recipe."""
    words = _build_packages()
    recipe = "\n".join([_release(), *SYSTEM, *TESTING, *words])
    if (PLACE / "recipe").exists() and (PLACE / "recipe").read_text() == recipe:
        return PLACE
    new = PLACE.with_name("arm64.new")
    for old in (PLACE, new):
        shutil.rmtree(old, ignore_errors=True)
    (new / "root").mkdir(parents=True)
    _unpack_emulator(new)
    with tempfile.TemporaryDirectory() as name:
        apt = _Apt(Path(name))
        packages = apt.download([*SYSTEM, *TESTING, *apt.chosen(words)])
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda package: _run(["dpkg", "-x", package, new / "root"]), packages))
        _merge(new / "root")
        _finish(new / "root", packages)
    (new / "recipe").write_text(recipe)
    new.rename(PLACE)
    return PLACE


def python(root: Path) -> str:
    """Its minor version: `3.11`."""
    found = sorted((root / "usr/include").glob("python3.*/Python.h"))
    if not found:
        raise Arm64Error(f"no headers of Python in {root}")
    return found[-1].parent.name.removeprefix("python")

"""What is missing when whocall is built is told all at once, by the names of the packages."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Complaint = Callable[..., str]

NOTHING = ("SYSTEM_ENVIRONMENT_PATH", "CMAKE_SYSTEM_PATH")
"""Where CMake looks without being told; with neither it finds nothing that is installed."""


@pytest.fixture(name="complaint")
def fixture_complaint(project_root: Path, tmp_path: Path) -> Complaint:
    """What a configuration that has to fail says, in one line."""
    ninja = shutil.which("ninja")
    assert ninja

    def complaint(*settings: str, **environment: str) -> str:
        command = ["cmake", "-S", str(project_root), "-B", str(tmp_path / "build"), "-G", "Ninja"]
        ran = subprocess.run(
            [*command, f"-DCMAKE_MAKE_PROGRAM={ninja}", *settings],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode != 0
        assert ran.stderr.count("CMake Error at") == 1, ran.stderr
        return " ".join(ran.stderr.split())

    return complaint


def packages(said: str, command: str) -> set[str]:
    """What the line that begins with `command` installs."""
    found = re.search(rf"configure anew: {command} (.*?) Call Stack", said)
    assert found, said
    names = found.group(1).split()
    assert len(names) == len(set(names))
    return set(names)


def without_everything() -> list[str]:
    return [f"-DCMAKE_FIND_USE_{name}=OFF" for name in NOTHING]


def test_several_libraries(complaint: Complaint) -> None:
    """Those that pkg-config knows, one that is a header, and one that has a library too."""
    said = complaint("-DWHOCALL_JSON_INCLUDE=", "-DWHOCALL_BFD=", PKG_CONFIG_LIBDIR="/nowhere")
    names = "zlib, libdeflate, liblzma, libzstd, liblz4, capstone, libbfd, json"
    assert f"as these are missing: {names}." in said
    compression = {"zlib1g-dev", "libdeflate-dev", "liblzma-dev", "libzstd-dev", "liblz4-dev"}
    others = {"libcapstone-dev", "binutils-dev", "nlohmann-json3-dev"}
    assert packages(said, "apt-get install") == compression | others


def test_no_compiler(complaint: Complaint, project_root: Path) -> None:
    """Libraries are told even so, and each by a name that scripts/prepare installs."""
    said = complaint(*without_everything())
    wanted = packages(said, "apt-get install")
    assert {"g++", "pkg-config", "zlib1g-dev", "libdw-dev", "pybind11-dev"} <= wanted
    scripts = (project_root / "scripts").glob("p*")
    installed = re.split(r"[\s|'()=]+", "".join(path.read_text() for path in scripts))
    assert wanted - set(installed) == set()


@pytest.mark.parametrize(
    ("like", "command", "some"),
    [
        ('ID=nobara\nID_LIKE="rhel centos fedora"', "dnf install", {"gcc-c++", "xz-devel"}),
        ("ID=arch", "pacman -S --needed", {"gcc", "nlohmann-json"}),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"', "zypper install", {"libdw-devel"}),
        ("ID=alpine", "apk add", {"elfutils-dev", "pkgconf"}),
        ("ID=ubuntu\nID_LIKE=debian", "apt-get install", {"zlib1g-dev"}),
        ("ID=of-its-own", "apt-get install", {"zlib1g-dev"}),
    ],
)
def test_other_systems(
    complaint: Complaint, tmp_path: Path, like: str, command: str, some: set[str]
) -> None:
    """By what /etc/os-release says."""
    (tmp_path / "root" / "etc").mkdir(parents=True)
    (tmp_path / "root" / "etc" / "os-release").write_text(like + "\n")
    said = complaint(*without_everything(), f"-DCMAKE_SYSROOT={tmp_path / 'root'}")
    assert some <= packages(said, command)

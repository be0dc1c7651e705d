"""What users do: `pip install` of the source distribution with gdb's own Python, then the command,
gdb and the module; and `cmake --install`, which puts in place the same.

pip takes the build requirements from PyPI and compiles everything a user's installation compiles,
which is nearly all of its time: so in two processes, and as build/release was compiled, whose
objects the compiler's cache still has. Only pybind11 is the distribution's: with PyPI's, which
`scripts/wheels` builds with, the binding alone takes longer than all else. The checkout is not
written to: the build goes into a temporary folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from acceptance.helpers.broken_files import crash
from whocall.base.version import __version__

TIMEOUT_SECONDS = 900.0


def environment() -> dict[str, str]:
    """Nothing of the checkout: neither its package nor its build."""
    dropped = ("PYTHONPATH", "WHOCALL_BUILD_DIR", "DEBUGINFOD_URLS", "PYTHONHOME", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "CMAKE_BUILD_PARALLEL_LEVEL": "2", "TERM": "dumb"}


def said(*command: str | Path, folder: Path, tools: Sequence[Path] = ()) -> str:
    """Standard output of a command that has to succeed; it finds its programs in `tools` first."""
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    ran = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**environment(), "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    shown = " ".join(map(str, command))
    assert ran.returncode == 0, f"{shown}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    assert "Traceback" not in ran.stderr
    return ran.stdout


def python_of_gdb(folder: Path) -> str:
    """The interpreter of the minor version that gdb embeds: the module fits that one only."""
    step = "python import sys; print('%d.%d' % sys.version_info[:2])"
    version = said("gdb", "-nx", "-batch", "-ex", step, folder=folder).strip()
    found = shutil.which(f"python{version}")
    assert found, f"install python{version} and python{version}-venv"
    return found


def _of_release(name: str) -> str:
    """What build/release was configured with: an entry of CMake's cache."""
    text = Path(os.environ["WHOCALL_BUILD_DIR"], "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(f"^{name}:[A-Z]+=(.+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def installed(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a virtual environment with whocall installed, built from what the source
    distribution of the checkout holds.
    """
    folder = tmp_path_factory.mktemp("install")
    venv, tools = folder / "venv", folder / "tools"
    for environment_of in (venv, tools):
        said(python_of_gdb(folder), "-m", "venv", environment_of, folder=folder)
    fetch = ("install", "--quiet", "--disable-pip-version-check", "scikit-build-core>=0.10")
    said(tools / "bin" / "pip", *fetch, folder=folder)
    make = "from scikit_build_core.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    said(tools / "bin" / "python", "-c", make, folder, folder=project_root)
    with tarfile.open(folder / f"whocall-{__version__}.tar.gz") as unpacked:
        unpacked.extractall(folder)
    source = folder / f"whocall-{__version__}"
    by_cache = f"env;CCACHE_BASEDIR={source};{project_root / 'scripts/compiler-cache'}"
    settings = (  # those of build/release, so that what was compiled for it is found again
        f"build-dir={source / 'build' / 'release'}",
        "cmake.build-type=RelWithDebInfo",
        "cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG",
        "cmake.define.WHOCALL_UNITY=OFF",
        f"cmake.define.pybind11_DIR={_of_release('pybind11_DIR')}",
        "cmake.define.WHOCALL_WERROR=ON",
        f"cmake.define.CMAKE_C_COMPILER={shutil.which('cc')}",
        f"cmake.define.CMAKE_CXX_COMPILER={shutil.which('c++')}",
        f"cmake.define.CMAKE_C_COMPILER_LAUNCHER={by_cache}",
        f"cmake.define.CMAKE_CXX_COMPILER_LAUNCHER={by_cache}",
    )
    pip = (venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    named = [word for each in settings for word in ("--config-settings", each)]  # -C is not in 23.0
    # Another release of CMake orders the compiler's flags otherwise; the cache would not know them.
    said(*pip, *named, source, folder=folder, tools=[Path(_of_release("CMAKE_COMMAND")).parent])
    return venv / "bin"


def test_the_command(installed: Path, tmp_path: Path) -> None:
    assert said(installed / "whocall", "--version", folder=tmp_path) == f"whocall {__version__}\n"
    by_module = said(installed / "python", "-m", "whocall", "--version", folder=tmp_path)
    assert by_module == f"whocall {__version__}\n"
    in_order = "Everything is in order, but for whocall report, whocall serve, whocall triage"
    assert in_order in said(installed / "whocall", "doctor", folder=tmp_path)


def test_the_module(installed: Path, tmp_path: Path, project_root: Path) -> None:
    """It is the installed one, and both native parts came along."""
    program = (
        "import whocall; print(whocall.__file__);"
        "table = whocall.open_symbols('/bin/bash'); print(len(table), whocall.demangle('_Z1fv'));"
        "print(any(table[index].source == 'plt' for index in range(len(table))))"
    )
    lines = said(installed / "python", "-c", program, folder=tmp_path).splitlines()
    assert Path(lines[0]).is_relative_to(installed.parent)
    assert not Path(lines[0]).is_relative_to(project_root)
    count, demangled = lines[1].split()
    assert int(count) > 2000
    assert (demangled, lines[2]) == ("f()", "True")


def test_typing_and_data_files_came_along(
    installed: Path, tmp_path: Path, project_root: Path
) -> None:
    program = "import whocall; print(whocall.__file__)"
    package = Path(said(installed / "python", "-c", program, folder=tmp_path).strip()).parent
    assert (package / "_native.pyi").is_file()
    assert (package / "py.typed").is_file()
    for folder in ("schema", "report/page/assets"):
        ours = {path.name for path in (project_root / "gdbext" / "whocall" / folder).iterdir()}
        assert {path.name for path in (package / folder).iterdir()} == ours


def test_the_backtrace(installed: Path, tmp_path: Path) -> None:
    check_the_backtrace(installed, tmp_path)


def check_the_backtrace(installed: Path, tmp_path: Path) -> None:
    """The command line outside, and the script that `--script-path` names inside gdb."""
    made = crash(tmp_path)
    outside = said(installed / "whocall", "bt", made.core, folder=tmp_path)
    script = said(installed / "whocall", "--script-path", folder=tmp_path).strip()
    assert Path(script).is_relative_to(installed.parent)
    steps = ("-ex", f"source {script}", "-ex", "whocall bt")
    inside = said("gdb", "-nx", "-q", "-batch", *steps, made.exe, made.core, folder=tmp_path)
    frames = [line for line in inside.splitlines() if line.endswith("]") and line.startswith("#")]
    assert frames[:3] == [line for line in outside.splitlines() if line.startswith("#")][:3]
    assert len(frames) >= 3


FILES_OF_COMMANDS = {
    "man/man1/whocall.1", "bash-completion/completions/whocall", "zsh/site-functions/_whocall",
    "fish/vendor_completions.d/whocall.fish",
}  # fmt: skip


def files_of_commands(share: Path) -> set[str]:
    """The manual page, and completion for shells."""
    return {name for name in FILES_OF_COMMANDS if "triage" in (share / name).read_text("utf-8")}


def test_the_manual_page_and_completions(installed: Path) -> None:
    assert files_of_commands(installed.parent / "share") == FILES_OF_COMMANDS


def test_the_library_for_programs(installed: Path, tmp_path: Path) -> None:
    """Header, library and pkg-config's file lie below the environment's prefix."""
    lib = installed.parent / "lib"
    asked = ("env", f"PKG_CONFIG_PATH={lib / 'pkgconfig'}", "pkg-config", "--cflags", "--libs")
    flags = said(*asked, "whocall", folder=tmp_path).split()
    source = (
        "#include <whocall.h>\nint main(void) { whocall_frame self; return who_am_i(&self); }\n"
    )
    (tmp_path / "user.c").write_text(source)
    said("gcc", "user.c", "-o", "user", *flags, folder=tmp_path)
    said("env", f"LD_LIBRARY_PATH={lib}", "./user", folder=tmp_path)
    assert (lib / "libwhocall-crash.so").is_file()
    assert (lib / "cmake" / "whocall" / "whocall-config.cmake").is_file()


def test_nothing_of_the_libraries_is_shown(installed: Path, tmp_path: Path) -> None:
    """In gdb's process there are other releases of them: nobody may take one for the other."""
    program = "import whocall; print(whocall.__file__)"
    package = Path(said(installed / "python", "-c", program, folder=tmp_path).strip()).parent
    modules = sorted(package.glob("*.so"))
    table = said("nm", "-D", "--defined-only", "--format=posix", *modules, folder=tmp_path)
    shown = {line.split()[0] for line in table.splitlines() if not line.endswith(":")}
    assert shown == {"PyInit__native", "whocall_bfd_library", "whocall_dw_library"}


def test_gdb_by_the_command(installed: Path, tmp_path: Path) -> None:
    """`whocall gdb` starts gdb with the extension loaded."""
    shown = said(
        installed / "whocall",
        "gdb",
        "-nx",
        "-q",
        "-batch",
        "-ex",
        "whocall doctor",
        folder=tmp_path,
    )
    assert str(installed.parent) in shown


def test_the_wheel_is_only_whocall(installed: Path) -> None:
    """Nothing but the package and its metadata is put among other people's packages."""
    (site,) = (installed.parent / "lib").glob("python*/site-packages")
    names = {entry.name for entry in site.iterdir()}
    foreign = {
        name
        for name in names
        if not name.startswith(("whocall", "pip", "setuptools", "pkg_resources", "_distutils_hack"))
    }
    assert foreign <= {"distutils-precedence.pth", "__pycache__"}
    assert sys.version_info >= (3, 9)


@pytest.mark.parametrize("moved", [False, True])
def test_by_cmake(moved: bool, tmp_path: Path) -> None:
    """Without a component: all that is there works, also where the prefix is moved elsewhere."""
    build = os.environ["WHOCALL_BUILD_DIR"]
    prefix = tmp_path / "prefix"
    said("cmake", "--install", build, "--prefix", prefix, folder=tmp_path)
    assert {path.name for path in prefix.iterdir()} == {"bin", "include", "lib", "share"}
    assert {path.name for path in (prefix / "bin").iterdir()} == {"whocall"}
    assert files_of_commands(prefix / "share") == FILES_OF_COMMANDS
    if moved:
        prefix = prefix.rename(tmp_path / "elsewhere")
    doctor = said(prefix / "bin" / "whocall", "doctor", folder=tmp_path)
    native = next(line for line in doctor.splitlines() if line.startswith("native module"))
    assert str(prefix / "lib" / "whocall") in native
    assert "Everything is in order" in doctor
    check_the_backtrace(prefix / "bin", tmp_path)

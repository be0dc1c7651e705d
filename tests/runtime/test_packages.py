"""`cmake --install` puts everything in place, and users' builds find it there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, NATIVE

SOURCE = """
#include <whocall.h>
#ifdef __cplusplus
#include <whocall.hpp>
__attribute__((noinline)) static void me() { who_call_me(nullptr); __asm__(""); }
__attribute__((noinline)) void asks() { me(); __asm__(""); }
#else
__attribute__((noinline)) static void me(void) { who_call_me(0); __asm__(""); }
__attribute__((noinline)) void asks(void) { me(); __asm__(""); }
#endif
int main(void) { asks(); return whocall_install(0); }
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C CXX)
find_package(whocall 0.1 REQUIRED)
foreach(kind whocall static)
  add_executable(c_${kind} user.c)
  add_executable(cxx_${kind} user.cpp)
  target_link_libraries(c_${kind} PRIVATE whocall::${kind})
  target_link_libraries(cxx_${kind} PRIVATE whocall::${kind})
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/preload "${whocall_CRASH_LIBRARY}")
"""


def ran(*command: str | Path, **settings: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Moved after it was installed: nothing in it may know where it was."""
    folder = tmp_path_factory.mktemp("installed")
    install = ("cmake", "--install", LIBRARIES.parent, "--component", "runtime")
    ran(*install, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    (tmp_path / "user.c").write_text(SOURCE)
    (tmp_path / "user.cpp").write_text(SOURCE)
    return tmp_path


def test_what_is_installed(prefix: Path) -> None:
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    assert files == {
        *("include/whocall.h", "include/whocall_trace.h", "include/whocall.hpp"),
        *(f"include/whocall/{each.name}" for each in (NATIVE / "runtime/cxx/whocall").iterdir()),
        *("lib/libwhocall.a", "lib/libwhocall.so", "lib/libwhocall.so.0"),
        "lib/libwhocall-crash.so",
        *("lib/libwhocall-trace.a", "lib/libwhocall-trace.so", "lib/libwhocall-trace.so.0"),
        *("lib/pkgconfig/whocall.pc", "lib/pkgconfig/whocall-trace.pc"),
        *(
            "lib/cmake/whocall/whocall-config.cmake",
            "lib/cmake/whocall/whocall-config-version.cmake",
        ),
    }
    assert (prefix / "include/whocall.h").read_text() == (NATIVE / "runtime/whocall.h").read_text()


def test_find_package(prefix: Path, user: Path) -> None:
    (user / "CMakeLists.txt").write_text(CMAKE)
    build = user / "build"
    ran("cmake", "-G", "Ninja", "-S", user, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    ran("cmake", "--build", build)
    for kind in ("whocall", "static"):
        assert "asks+0x" in ran(build / f"c_{kind}")
        assert " called me+0x" in ran(build / f"c_{kind}")
        assert "_Z4asksv+0x" in ran(build / f"cxx_{kind}")
    preload = Path((build / "preload").read_text())
    assert preload.samefile(prefix / "lib/libwhocall-crash.so")


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_pkg_config(prefix: Path, user: Path, kind: str) -> None:
    asked = ["pkg-config", "--cflags", "--libs", *(["--static"] if kind == "static" else [])]
    flags = ran(*asked, "whocall", PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")).split()
    static = ["-static"] if kind == "static" else []
    ran("gcc", user / "user.c", "-o", user / "user", *flags, *static)
    said = ran(user / "user", LD_LIBRARY_PATH=str(prefix / "lib"))
    assert "asks+0x" in said
    assert " called me+0x" in said

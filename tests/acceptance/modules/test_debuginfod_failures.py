"""Servers that have nothing, answer with something else or do not answer, and no way to ask them: a
sentence, and the backtrace does without.
"""

from __future__ import annotations

from pathlib import Path

from oracles.tools import run

from acceptance.modules.debuginfod_server import answering, asking, free_port, hanging, serving
from acceptance.modules.debuginfod_sessions import LOCAL, bt
from acceptance.modules.module_crashes import (
    Crashed,
    answer,
    build_directory,
    build_id,
    modules,
    whocall,
)


def refused(crash: Crashed, env: dict[str, str]) -> str:
    """What `whocall modules` says of the library; the backtrace must not mind."""
    assert not set(LOCAL) & set(bt(crash, "--debuginfod", env=env))
    found = modules(answer("modules", crash.core, "--debuginfod", env=env))
    assert found["libsteps.so"]["state"] == "found"
    remedy: str = found["libsteps.so"]["remedy"]
    return remedy


def test_what_no_server_has_is_a_sentence(crash: Crashed, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as server:
        env = asking(server.url, tmp_path / "cache")
        assert not set(LOCAL) & set(bt(crash, "--debuginfod", env=env))
        found = modules(answer("modules", crash.core, "--debuginfod", env=env))["libsteps.so"]
        assert f"debuginfod has no separate debug info for {crash.library}" in found["remedy"]
        assert server.url in found["remedy"]


def test_no_server_listens(crash: Crashed, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    said = refused(crash, asking(url, tmp_path / "cache"))
    assert url in said
    assert "Connection refused" in said


def test_no_server_is_named(crash: Crashed) -> None:
    said = whocall("modules", crash.core, "--debuginfod")
    assert said.returncode == 0
    assert "DEBUGINFOD_URLS" in said.stdout


def test_another_build_is_not_used(crash: Crashed, tmp_path: Path) -> None:
    foreign = Path("/bin/true")
    with answering(foreign.read_bytes()) as url:
        said = refused(crash, asking(url, tmp_path / "cache"))
    assert build_id(foreign) in said
    assert build_id(crash.library) in said
    assert "is not used" in said


def test_rubbish_is_not_used(crash: Crashed, tmp_path: Path) -> None:
    with answering(b"<html>It works!</html>") as url:
        assert "is not an ELF file" in refused(crash, asking(url, tmp_path / "cache"))


def test_servers_that_hang_are_not_waited_for_again(crash: Crashed, tmp_path: Path) -> None:
    with hanging() as (url, _):
        env = asking(url, tmp_path / "cache", DEBUGINFOD_TIMEOUT="1", DEBUGINFOD_RETRY_LIMIT="4")
        said = whocall("modules", crash.core, "--debuginfod", env=env)
        assert said.returncode == 0
        assert "did not answer in time" in said.stdout
        assert "not asked again" in said.stdout


def test_the_library_is_not_there(crash: Crashed, tmp_path: Path) -> None:
    """A machine without libdebuginfod; nothing else may need it."""
    source = tmp_path / "hide.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <string.h>\n"
        "void *dlopen(const char *name, int flags) {\n"
        '  if (name && strstr(name, "libdebuginfod")) return 0;\n'
        "  void *(*real)(const char *, int) = (void *(*)(const char *, int))"
        'dlsym(RTLD_NEXT, "dlopen");\n  return real(name, flags); }\n'
    )
    hide = tmp_path / "hide.so"
    run(["gcc", "-shared", "-fPIC", "-o", str(hide), str(source)])
    env = asking("http://127.0.0.1:1", tmp_path / "cache", LD_PRELOAD=str(hide))
    assert "apt-get install libdebuginfod1" in refused(crash, env)
    needed = run(["readelf", "-d", *map(str, Path(build_directory(), "whocall").glob("*.so"))])
    assert "NEEDED" in needed
    assert "debuginfod" not in needed

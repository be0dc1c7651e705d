"""Debug info and files from debuginfod: a real server on this machine, and bad ones. What the names
are to be, the unstripped twins tell; what was asked for, the server's own log.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from oracles.tools import environment, run

from acceptance.helpers.scoreboard import Scoreboard
from acceptance.modules.debuginfod_server import (
    Server,
    answering,
    asking,
    free_port,
    hanging,
    serving,
)
from acceptance.modules.module_crashes import (
    CHAIN,
    SCRIPT,
    Crashed,
    answer,
    build_directory,
    build_id,
    chain_of,
    crashed,
    modules,
    names,
    whocall,
)

NO_DEBUG_DIRECTORY = "/nonexistent"
LOCAL = ("deepest", "deeper", "calling")
"""Those of the chain whose names stripping has taken away."""


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    return crashed(tmp_path_factory.mktemp("debuginfod"))


@pytest.fixture
def server(crash: Crashed, tmp_path: Path) -> Iterator[Server]:
    """Has the debug files of both, and both files."""
    place = tmp_path / "served"
    place.mkdir()
    for name in ("prog", "libsteps.so"):
        run(["objcopy", "--only-keep-debug", str(crash.twin(name)), str(place / f"{name}.debug")])
        (place / name).write_bytes((crash.directory / name).read_bytes())
    with serving(place) as found:
        yield found


def bt(crash: Crashed, *options: str, env: dict[str, str]) -> tuple[str | None, ...]:
    """The names of the chain."""
    places = ("--debug-directory", NO_DEBUG_DIRECTORY)
    return chain_of(names(answer("bt", crash.core, *places, *options, env=env)))


def gdb(
    crash: Crashed, *commands: str, env: dict[str, str], status: int = 0
) -> subprocess.CompletedProcess[str]:
    """A batch session; gdb's own debuginfod is off while it loads the files."""
    line = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    line += ["-iex", f"set debug-file-directory {NO_DEBUG_DIRECTORY}", "-ex", f"source {SCRIPT}"]
    for command in commands:
        line += ["-ex", command]
    ran = subprocess.run(
        [*line, str(crash.exe), str(crash.core)],
        env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory(), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == status, ran.stderr
    return ran


def test_off_unless_asked(crash: Crashed, server: Server, tmp_path: Path) -> None:
    env = asking(server.url, tmp_path / "cache")
    assert not set(LOCAL) & set(bt(crash, env=env))
    assert whocall("modules", crash.core, env=env).returncode == 0
    said = gdb(crash, "whocall bt", "whocall modules", "whocall compare", env=env).stdout
    assert not [name for name in LOCAL if name in said]
    assert server.requests() == []


def test_names_of_debug_info(crash: Crashed, server: Server, tmp_path: Path) -> None:
    env = asking(server.url, tmp_path / "cache")
    assert bt(crash, "--debuginfod", env=env) == CHAIN
    ids = {build_id(crash.exe), build_id(crash.library)}
    assert {each for each, _ in server.requests()} >= ids
    assert {kind for _, kind in server.requests()} == {"debuginfo"}
    before = server.requests()
    assert bt(crash, "--debuginfod", env=env) == CHAIN
    assert server.requests() == before  # from the cache


def test_only_modules_with_frames_are_asked_for(
    crash: Crashed, server: Server, tmp_path: Path
) -> None:
    """The dynamic linker is loaded, and no frame lies in it."""
    found = modules(answer("modules", crash.core))
    others = {
        module["build_id_in_memory"] for name, module in found.items() if name.startswith("ld-")
    }
    assert len(others) == 1
    env = asking(server.url, tmp_path / "cache")
    gdb(crash, "set whocall debuginfod on", "whocall bt", "whocall modules", env=env)
    asked = {each for each, _ in server.requests()}
    assert build_id(crash.library) in asked
    assert not asked & others
    options = ("--debuginfod", "--debug-directory", NO_DEBUG_DIRECTORY)
    document = answer("modules", crash.core, *options, env=env)  # this asks for all
    assert others <= {each for each, _ in server.requests()}
    assert (
        "no separate debug info"
        in modules(document)[next(n for n in found if n.startswith("ld-"))]["remedy"]
    )


def test_missing_files_are_fetched(crash: Crashed, server: Server, tmp_path: Path) -> None:
    env = asking(server.url, tmp_path / "cache")
    files = (crash.exe, crash.library)
    for file in files:
        file.rename(file.with_suffix(".away"))
    try:
        without = modules(answer("modules", crash.core, env=env))
        assert {without[file.name]["state"] for file in files} == {"missing"}
        assert all("--debuginfod" in without[file.name]["remedy"] for file in files)
        assert server.requests() == []
        assert bt(crash, "--debuginfod", env=env) == CHAIN
        found = modules(answer("modules", crash.core, "--debuginfod", env=env))
        for file in files:
            assert found[file.name]["state"] == "found"
            assert Path(found[file.name]["file"]).is_relative_to(tmp_path / "cache")
            assert Path(found[file.name]["debug_file"]).is_relative_to(tmp_path / "cache")
    finally:
        for file in files:
            file.with_suffix(".away").rename(file)


def test_what_no_server_has_is_a_sentence(crash: Crashed, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as server:
        env = asking(server.url, tmp_path / "cache")
        assert not set(LOCAL) & set(bt(crash, "--debuginfod", env=env))
        found = modules(answer("modules", crash.core, "--debuginfod", env=env))["libsteps.so"]
        assert f"debuginfod has no separate debug info for {crash.library}" in found["remedy"]
        assert server.url in found["remedy"]


def refused(crash: Crashed, env: dict[str, str]) -> str:
    """What `whocall modules` says of the library; the backtrace must not mind."""
    assert not set(LOCAL) & set(bt(crash, "--debuginfod", env=env))
    found = modules(answer("modules", crash.core, "--debuginfod", env=env))
    assert found["libsteps.so"]["state"] == "found"
    remedy: str = found["libsteps.so"]["remedy"]
    return remedy


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


@pytest.mark.parametrize(
    ("ours", "gdbs", "asks"),
    [
        ("auto", "on", True),
        ("auto", "off", False),
        ("auto", "ask", False),
        ("on", "off", True),
        ("off", "on", False),
    ],
)
def test_gdbs_settings(
    ours: str, gdbs: str, asks: bool, crash: Crashed, server: Server, tmp_path: Path
) -> None:
    """Of gdb's `debuginfod urls` too, which begins as DEBUGINFOD_URLS and is not it afterwards."""
    env = asking("http://127.0.0.1:1", tmp_path / "cache")
    settings = [
        f"set debuginfod urls {server.url}",
        f"set debuginfod enabled {gdbs}",
        f"set whocall debuginfod {ours}",
    ]
    said = gdb(crash, *settings, "whocall bt", "show whocall debuginfod", env=env).stdout
    assert all((name in said) == asks for name in LOCAL), said
    assert bool(server.requests()) == asks
    if ours == "auto":
        assert f"(currently {'on' if asks else 'off'})" in said


def test_settings_count_at_once(crash: Crashed, server: Server, tmp_path: Path) -> None:
    env = asking(server.url, tmp_path / "cache")
    said = gdb(
        crash,
        "whocall bt",
        "echo {on}\\n",
        "set whocall debuginfod on",
        "whocall bt",
        "echo {off}\\n",
        "set whocall debuginfod off",
        "whocall bt",
        env=env,
    ).stdout
    before, rest = said.split("{on}")
    on, off = rest.split("{off}")
    assert [LOCAL[0] in part for part in (before, on, off)] == [False, True, False]


def interrupted(child: subprocess.Popen[str]) -> float:
    """Ctrl-C; the seconds until the end."""
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)  # far less than the server's 90 seconds
    return time.monotonic() - begin


def test_ctrl_c_ends_a_fetch(crash: Crashed, tmp_path: Path, scoreboard: Scoreboard) -> None:
    with hanging() as (url, came):
        env = asking(url, tmp_path / "cache", DEBUGINFOD_TIMEOUT="90")
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), "bt", str(crash.core), "--debuginfod"],
            env={**environment(), "WHOCALL_BUILD_DIR": build_directory(), **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert came.wait(60)
            seconds = interrupted(child)
            assert child.returncode == 130
            assert child.stdout is not None and child.stdout.read() == ""
    table = scoreboard.table("Ctrl-C while a debuginfod server hangs", "where", "seconds")
    table.rows.append(("command line", seconds))


def terminal(crash: Crashed, env: dict[str, str], *options: str) -> pexpect.spawn:
    """gdb as a person has it."""
    arguments = ["-nx", "-q", "-iex", "set debuginfod enabled off", *options]
    arguments += [
        "-ex",
        f"source {SCRIPT}",
        "-iex",
        f"set debug-file-directory {NO_DEBUG_DIRECTORY}",
    ]
    child = pexpect.spawn(
        "gdb",
        [*arguments, str(crash.exe), str(crash.core)],
        env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory(), **env},
        encoding="utf-8",
        timeout=60,
        dimensions=(100, 250),
    )
    child.expect_exact('type "whocall bt"')
    child.expect_exact("(gdb) ")
    for setting in ("set pagination off", "set whocall debuginfod on"):
        child.sendline(setting)
        child.expect_exact("(gdb) ")
    return child


def test_ctrl_c_ends_a_fetch_in_gdb(crash: Crashed, tmp_path: Path, scoreboard: Scoreboard) -> None:
    with hanging() as (url, came):
        child = terminal(crash, asking(url, tmp_path / "cache", DEBUGINFOD_TIMEOUT="90"))
        child.sendline("whocall bt")
        assert came.wait(60)
        begin = time.monotonic()
        child.sendintr()
        child.expect_exact("(gdb) ", timeout=30)
        seconds = time.monotonic() - begin
        assert "Quit" in child.before
        assert "#0" not in child.before
        child.sendline("set whocall debuginfod off")
        child.expect_exact("(gdb) ")
        child.sendline("whocall bt")
        child.expect_exact("#0")
        child.expect_exact("(gdb) ")
        child.sendline("quit")
        child.expect(pexpect.EOF)
    table = scoreboard.table("Ctrl-C while a debuginfod server hangs", "where", "seconds")
    table.rows.append(("gdb", seconds))


def debug_info(crash: Crashed, tmp_path: Path) -> bytes:
    """Of the library."""
    file = tmp_path / "debug"
    run(["objcopy", "--only-keep-debug", str(crash.twin("libsteps.so")), str(file)])
    return file.read_bytes()


def test_a_person_sees_what_comes(crash: Crashed, tmp_path: Path) -> None:
    """In gdb and on the command line; never amid JSON."""
    sentence = rf"Downloading [\d.]+ [KM]B separate debug info for {crash.library}"
    with answering(debug_info(crash, tmp_path), pause=0.5) as url:
        child = terminal(crash, asking(url, tmp_path / "first"))
        child.sendline("whocall bt")
        child.expect(sentence)
        child.expect_exact("(gdb) ")
        assert LOCAL[0] in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)
        child = terminal(crash, asking(url, tmp_path / "second"))
        child.sendline("whocall bt -json")
        child.expect_exact("(gdb) ")
        assert f'"function": "{LOCAL[0]}"' in child.before
        assert "Downloading" not in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)
        for number, option in enumerate(("--past-main", "--json")):
            env = asking(url, tmp_path / f"cache{number}")
            child = pexpect.spawn(
                sys.executable,
                [str(SCRIPT), "bt", str(crash.core), "--debuginfod", option],
                env={**environment(), "WHOCALL_BUILD_DIR": build_directory(), **env},
                encoding="utf-8",
                timeout=60,
            )
            child.expect(pexpect.EOF)
            assert ("Downloading" in child.before) == (option != "--json")
            assert LOCAL[0] in child.before


def test_a_person_sees_it_where_another_python_does_the_work(
    crash: Crashed, tmp_path: Path
) -> None:
    """The servers are gdb's own setting, of which another process does not know."""
    foreign = "import importlib.machinery as m; m.EXTENSION_SUFFIXES[:] = ['.cpython-399-x.so']"
    with answering(debug_info(crash, tmp_path), pause=1) as url:
        env = asking("http://127.0.0.1:1", tmp_path / "cache")
        child = terminal(crash, env, "-iex", f"python {foreign}")
        child.sendline(f"set debuginfod urls {url}")
        child.expect_exact("(gdb) ")
        child.sendline("whocall bt")
        child.expect(rf"Downloading [\d.]+ [KM]B separate debug info for {crash.library}")
        assert "#0" not in child.before
        child.expect_exact("(gdb) ")
        assert LOCAL[0] in child.before
        assert f"debug info for {crash.library}" not in child.before
        child.sendline("quit")
        child.expect(pexpect.EOF)

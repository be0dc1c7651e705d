"""Debug info and files from debuginfod, of a real server on this machine. What the names are to be,
the unstripped twins tell; what was asked for, the server's own log.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.modules.debuginfod_server import Server, asking
from acceptance.modules.debuginfod_sessions import LOCAL, NO_DEBUG_DIRECTORY, bt, gdb
from acceptance.modules.module_crashes import CHAIN, Crashed, answer, build_id, modules, whocall


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

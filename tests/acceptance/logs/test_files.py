"""Where files are found, and which are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from acceptance.helpers.name_lists import breakpad, breakpad_id
from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import document, judge, within
from acceptance.logs.log_programs import build, resolved
from acceptance.logs.test_written_logs import FORMS
from acceptance.modules.debuginfod_server import serving


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return stack_of(tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="module")
def log(stack: Stack) -> str:
    return FORMS["libwhocall"](stack)


def _placed(file: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(file, place))


STORES = (
    ".build-id/{0:.2}/{1}.debug",
    "usr/lib/debug/.build-id/{0:.2}/{1}.debug",
    "{0}/debuginfo",
    "any/where/it.is",
)


@pytest.mark.parametrize("form", STORES)
def test_a_store(tmp_path: Path, stack: Stack, log: str, form: str) -> None:
    place = form.format(stack.build_id, stack.build_id[2:])
    file = _placed(stack.built.debug, tmp_path / "store" / place)
    found = document(log, "--symbols", tmp_path / "store")
    places = judge(found, stack.built.full)
    assert {each["file"] for each in places} == {str(file)}
    assert {each["name_source"] for each in places} == {"debug-file"}
    assert all(each["verified"] for each in places)


def test_a_debug_directory_of_the_system(tmp_path: Path, stack: Stack, log: str) -> None:
    """No file and no directory of symbols is named."""
    place = f".build-id/{stack.build_id[:2]}/{stack.build_id[2:]}.debug"
    _placed(stack.built.debug, tmp_path / "debug" / place)
    judge(document(log, "--debug-directory", tmp_path / "debug"), stack.built.full)


def test_a_breakpad_store(tmp_path: Path, stack: Stack, log: str) -> None:
    """Nobody has the program: names and lines are those of the list."""
    ident = breakpad_id(stack.build_id)
    place = tmp_path / "store" / "prog" / ident / "prog.sym"
    place.parent.mkdir(parents=True)
    place.write_text(breakpad(stack.built.full))
    found = document(log, "--symbols", tmp_path / "store")
    places = within(found, "prog")
    assert [each["function"] for each in places] == ["crash", "caller", "last", "main"]
    assert {each["name_source"] for each in places} == {"symbol-file"}
    assert all(each["verified"] for each in places)
    with_debug = document(log, "--symbols", _placed(stack.built.debug, tmp_path / "d" / "x").parent)
    for place_of_list, true in zip(places, within(with_debug, "prog")):
        assert place_of_list["offset"] == true["offset"]
        assert place_of_list["source"][-1]["line"] in [step["line"] for step in true["source"]]


def test_debuginfod(tmp_path: Path, stack: Stack, log: str) -> None:
    """Nothing of the program is on this machine; asked for only when the user says so."""
    served = tmp_path / "served"
    _placed(stack.built.debug, served / "x.debug")
    with serving(served) as server:
        variables = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "kept")}
        assert resolved(log, **variables).stdout == log
        assert server.requests() == []
        found = document(log, "--debuginfod", **variables)
        judge(found, stack.built.full)
        assert (stack.build_id, "debuginfo") in server.requests()


def test_a_program_lends_its_names_where_its_debug_file_is_away(
    tmp_path: Path, stack: Stack, log: str
) -> None:
    """Of a stripped one that is what can be told of functions; no source."""
    _placed(stack.built.stripped, tmp_path / "tree" / "prog")
    places = within(document(log, "--symbols", tmp_path / "tree"), "prog")
    assert all(each["function"].startswith("sub_") or each["inferred"] for each in places[:3])
    assert all(each["source"] == [] for each in places)


def test_another_build_is_refused(tmp_path: Path, log: str, stack: Stack) -> None:
    """By name it would be the one; the build that is needed is said."""
    other = build("-DADDRESSES", "-DOTHER=1", "-O2")
    _placed(other.full, tmp_path / "tree" / "prog")
    done = resolved(log, "--symbols", tmp_path / "tree")
    assert done.returncode == 0
    assert done.stdout == log
    assert f"the log is of build {stack.build_id}: it lends no names" in done.stderr
    found = document(log, "--symbols", tmp_path / "tree")
    assert all(each["function"] is None for each in within(found, "prog"))
    module = next(each for each in found["modules"] if each["module"] == str(stack.path))
    assert module["state"] == "MISMATCH"
    assert module["build_id"] == stack.build_id
    assert module["other_builds"][0]["file"] == str(tmp_path / "tree" / "prog")


def test_what_is_missing_is_said(tmp_path: Path, stack: Stack, log: str) -> None:
    done = resolved(log, "--symbols", tmp_path)
    assert done.stdout == log
    assert (
        f"{stack.path}, build {stack.build_id}, is not to be had: give a directory" in done.stderr
    )


def test_many_missing_files_are_one_warning(tmp_path: Path) -> None:
    """And what they are called is not obeyed by terminals."""
    log = "".join(f"/missing\x1b[31m{at}(+0x11a8)[0x55f77e3af1a8]\n" for at in range(20))
    done = resolved(log)
    assert done.stdout == log
    assert len(done.stderr.splitlines()) == 1
    assert "\\x1b[31m7 and 12 more; give a directory" in done.stderr


def test_two_builds_of_one_name(tmp_path: Path, stack: Stack) -> None:
    """A log without build ids does not tell which: neither lends names."""
    other = build("-DADDRESSES", "-DOTHER=1", "-O2")
    _placed(other.full, tmp_path / "one" / "x" / "prog")
    _placed(stack.built.full, tmp_path / "one" / "y" / "prog")
    log = FORMS["chromium"](stack)
    done = resolved(log, "--symbols", tmp_path / "one")
    assert "are two builds of" in done.stderr
    assert done.stdout == log
    judge(document(log, "--symbols", tmp_path / "one" / "y"), stack.built.full)


def test_two_reports_in_one_log(tmp_path: Path, stack: Stack, log: str) -> None:
    """Of two builds, and the second one cut off: what the first said of builds is not its."""
    shutil.copy(stack.built.full, tmp_path / "x")
    cut = "".join(line + "\n" for line in log.splitlines()[:7])
    first = within(document(log, "--symbols", tmp_path), "prog")
    found = document(log + cut, "--symbols", tmp_path)
    assert within(found, "prog")[: len(first)] == first
    assert [each["function"] for each in within(found, "prog")[len(first) :]] == [None] * len(first)
    found = document(cut + log, "--symbols", tmp_path)
    assert [each["function"] for each in within(found, "prog")[: len(first)]] == [None] * len(first)
    named = [each["function"] for each in within(found, "prog")[len(first) :]]
    assert named == [each["function"] for each in first]


def test_bad_usage(tmp_path: Path) -> None:
    """One sentence, and the exit statuses of all commands."""
    nowhere = tmp_path / "nowhere"
    for words, status, said in (
        (["--symbols", nowhere], 1, "there is no such directory to look for symbols in"),
        ([nowhere], 1, f"{nowhere}: No such file or directory"),
        ([tmp_path], 1, f"{tmp_path}: Is a directory"),
        (["--maps", nowhere], 1, "No such file or directory"),
        (["--maps", "/dev/null"], 1, "there is no mapping in it"),
        (["--nothing"], 2, "unrecognized arguments"),
    ):
        done = resolved("", *words)
        assert done.returncode == status
        assert done.stdout == ""
        assert said in done.stderr.splitlines()[-1]


def test_help() -> None:
    done = resolved("", "--help")
    assert done.returncode == 0
    assert "--symbols DIR" in done.stdout

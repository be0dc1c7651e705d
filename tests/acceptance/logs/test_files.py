"""Where files are found, and which are refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guards import guarded

from acceptance.helpers.name_lists import breakpad, breakpad_id
from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import document, judge, within
from acceptance.logs.log_programs import WHOCALL, build, resolved
from acceptance.logs.test_written_logs import FORMS
from acceptance.modules.debuginfod_server import serving
from whocall.base.file_search import Search
from whocall.base.printable import printable_line
from whocall.base.process_image import open_symbols
from whocall.resolve.modules import Modules
from whocall.resolve.stores import Directory


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
    assert done.stdout == log.replace("\x1b", "\\x1b")
    assert len(done.stderr.splitlines()) == 2
    assert "\\x1b[31m7 and 12 more; give a directory" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("of 20 addresses 20 have no name")


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
    """One sentence that says what to do, and the exit statuses of all commands."""
    nowhere = tmp_path / "nowhere"
    there = tmp_path / "there"
    there.write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    for words, status, said in (
        (["--symbols", nowhere], 1, "there is no such directory to look for symbols in; name one"),
        (["--symbols", there], 1, f"{there} is a file: --symbols takes the directory"),
        (["--symbols", tmp_path / "loop"], 1, "Too many levels of symbolic links; copy it"),
        ([nowhere], 1, f"{nowhere} cannot be read: No such file or directory; look for another"),
        ([tmp_path], 1, f"{tmp_path} cannot be read: Is a directory; name a file in it"),
        (["--maps", nowhere], 1, "No such file or directory; give a copy of /proc/PID/maps"),
        (["--maps", tmp_path], 1, "Is a directory; give a copy of /proc/PID/maps"),
        (["--maps", there], 1, "there is no mapping in it; give a copy"),
        (["--maps", "/dev/null"], 1, "it is no regular file; give a copy of /proc/PID/maps"),
        (["--nothing"], 2, "unrecognized arguments"),
    ):
        done = resolved("", *words)
        assert done.returncode == status
        assert done.stdout == ""
        assert said in done.stderr.splitlines()[-1]


STRANGERS = {
    "core": (b"\x7fELF\2\1\1" + bytes(9) + b"\4\0", "is a core, not a log: `whocall bt {}`"),
    "minidump": (b"MDMP" + bytes(60), "is a minidump, not a log: `whocall bt {}`"),
    "program": (b"\x7fELF\2\1\1" + bytes(9) + b"\3\0", "name the log, and the program by --exe"),
    "gzip": (b"\x1f\x8b\x08", "is packed: `gzip -dc {} | whocall resolve`"),
    "zstd": (b"\x28\xb5\x2f\xfd", "is packed: `zstd -dc {} | whocall resolve`"),
    "journal": (b"LPKSHHRH" + bytes(8), "`journalctl --file={} | whocall resolve`"),
    "perf": (b"PERFILE2h", "`perf script --show-mmap-events -i {} | whocall resolve`"),
    "utf-16": (b"\xff\xfe#\0", "`iconv -f UTF-16 -t UTF-8 {} | whocall resolve`"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_what_is_no_log_is_refused_with_what_reads_it(tmp_path: Path, kind: str) -> None:
    """Instead of megabytes of it on the terminal."""
    head, said = STRANGERS[kind]
    file = tmp_path / "file"
    file.write_bytes(head)
    for words, given, name in (([file], "", file), ([], head, "FILE")):
        done = resolved(given if isinstance(given, str) else _text(given), *words)
        assert done.returncode == 1
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert said.format(name) in done.stderr


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def test_a_log_without_a_place_says_so(tmp_path: Path) -> None:
    """It goes through all the same; JSON says it too."""
    for log, said, *left in (
        ("", "is empty: there is nothing to name"),
        ("no crash\n\0\1\n", "is of a crash in a form that is known here"),
        (
            "   4:     0x55a3bcaf0c8c - <unknown>\n",
            "name the program by --exe",
            "one address has no name",
        ),
        (
            "stack 7 [0x55a3bcaf0c8c]\n\nat 0x55a3bcaf0c8c\n",
            "is of a crash in a form that is known here",
            "2 lines look like a frame and are not understood (the first is line 1)",
        ),
    ):
        done = resolved(log)
        assert done.returncode == 0
        assert done.stdout == printable_line(log, kept="\n")
        assert said in done.stderr.splitlines()[0]
        assert done.stderr.splitlines()[1:] == [f"warning: {sentence}" for sentence in left]
        first, *others = document(log)["warnings"]
        assert said in first
        assert others == left


@pytest.mark.parametrize("path", ["/proc/self/exe", "//proc/1/../self/exe", "/dev/fd/0", "/sys/x"])
def test_what_this_machine_shows_of_itself_is_not_opened(path: str) -> None:
    """A log that says so would make it read whatever runs here."""
    for log in (f"{path}(+0x1139)[0x55a3bcaf0c8c]\n", f"Executable: {path}\n0x1139 in ?? ()\n"):
        found = document(log)
        assert [each["file"] for each in found["places"]] == [None]
        assert [each["file"] for each in found["modules"]] in ([None], [])


def test_the_program_by_the_name_that_the_kernel_has_for_it(tmp_path: Path, stack: Stack) -> None:
    """It is the one that the user names."""
    log = FORMS["chromium"](stack).replace(str(stack.path), "/proc/self/exe")
    assert "/proc/self/exe+0x" in log
    program = _placed(stack.built.full, tmp_path / "prog")
    judge(document(log, "--exe", program), stack.built.full)


def test_a_log_that_is_still_being_written_is_shown(stack: Stack) -> None:
    """What waits for later lines does not wait for ever."""
    with subprocess.Popen(
        [sys.executable, WHOCALL, "resolve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        line = f" 0# {stack.addresses[0]:#x} in ./prog\n".encode()
        ran.stdin.write(line)
        ran.stdin.flush()
        with guarded(20):
            assert ran.stdout.readline() == line
        ran.stdin.close()


def test_many_missing_builds_are_a_few_warnings() -> None:
    """Each has a build id of its own."""
    log = "".join(f"#00 pc 0000000000001139  /a{at} (BuildId: {at:016x})\n" for at in range(100))
    done = resolved(log)
    assert done.stdout == log
    assert len(done.stderr.splitlines()) == 34
    assert done.stderr.splitlines()[-1].endswith("of 100 addresses 100 have no name")
    assert "68 more files lend no names; --json tells of each" in done.stderr
    assert len(document(log)["modules"]) == 100


def test_more_files_than_anyone_looks_for(tmp_path: Path) -> None:
    """Neither memory nor disk is asked about each of a million names."""
    log = "".join(f"/a{at}/prog(+0x11a8)[0x55f77e3af1a8]\n" for at in range(20_000))
    with guarded():
        done = resolved(log, "--symbols", tmp_path)
    assert done.stdout == log
    assert "speaks of more than 16,384 files, and the rest was not looked for" in done.stderr


def test_one_file_under_many_names_is_read_once(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each took as much memory as the file has symbols."""
    opened: list[str] = []
    monkeypatch.setattr(
        "whocall.resolve.modules.open_symbols",
        lambda path, search: opened.append(path) or open_symbols(path, search=search),
    )
    modules = Modules(Search(directories=[str(stack.built.full.parent)]), demangle=True)
    found = {
        modules.by_symbol(modules.module(f"/d{at}/full", None), "main", 5, None) for at in range(9)
    }
    assert len(found) == 1
    assert found != {None}
    assert opened == [str(stack.built.full)]


def test_symbol_directories_that_lead_in_circles(tmp_path: Path, stack: Stack, log: str) -> None:
    """With pipes, garbage that is called a Breakpad file, and names that lead out in them."""
    tree = tmp_path / "tree"
    (tree / "a").mkdir(parents=True)
    (tree / "a" / "up").symlink_to(tree)
    (tree / "a" / "self").symlink_to("self")
    os.mkfifo(tree / "pipe")
    ident = breakpad_id(stack.build_id)
    garbage = b"\x1b]0;x\7\nFUNC zz\nFUNC 1 ffffffffffffffffffff 0 x\n" + bytes(range(256)) * 64
    (tree / "prog.sym").write_bytes(f"MODULE Linux x86_64 {ident} prog\n".encode() + garbage)
    done = resolved(log, "--symbols", tree)
    assert done.returncode == 0
    assert "\x1b" not in done.stderr
    assert f"{tree / 'prog.sym'}" in done.stderr
    _placed(stack.built.debug, tree / "a" / "x")
    judge(document(log, "--symbols", tree), stack.built.full)


def test_names_in_a_log_do_not_lead_out_of_a_symbol_directory(tmp_path: Path) -> None:
    (tmp_path / "tree" / "usr").mkdir(parents=True)
    shutil.copy("/bin/true", tmp_path / "outside")
    shutil.copy("/bin/true", tmp_path / "tree" / "usr" / "inside")
    directory = Directory(str(tmp_path / "tree"))
    for name in ("/../outside", "/usr/../../outside", "/usr/.."):
        places = [os.path.realpath(place) for place in directory.by_path(name)]
        assert all(place.startswith(f"{tmp_path}/tree/") for place in places), name
    assert f"{tmp_path}/tree/usr/inside" in directory.by_path("/lib/../usr/inside")


def test_help() -> None:
    done = resolved("", "--help")
    assert done.returncode == 0
    assert "--symbols DIR" in done.stdout

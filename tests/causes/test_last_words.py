"""The texts of panics, exceptions and assertions are told of stripped programs; none is made up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from acceptance.helpers.broken_files import SCRIPT
from acceptance.helpers.rust_programs import RUSTC
from corpus.crash import crash

import whocall
from causes.last_words import PROGRAMS, SYSROOT, ended
from causes.programs import happened
from causes.test_why import in_gdb, why
from whocall import Search
from whocall.base.printable import printable
from whocall.base.process_image import Walk
from whocall.report.causes import causes
from whocall.report.causes.scene import Scene
from whocall.report.last_words import last_words

SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "backtrace-2.json").read_text())
ALONE = Search(debug_directories=())  # what is stripped stays so
PANICS = ("index", "unwrap", "format", "literal", "lines", "thread")

TOLD = {
    "c": ("assertion", "free", "smashed", "too-long"),
    "c-static": ("assertion", "free", "smashed", "too-long"),
    "c-plain": ("assertion", "free"),
    "c-32": ("assertion", "free", "smashed", "too-long"),
    "c-musl": ("assertion",),
    "c-musl-static": ("assertion",),
    "cxx": ("index", "derived", "own", "fixed", "second", "shared", "int", "at", "quiet", "again",
            "inner", "terminate", "kept"),
    "cxx-plain": ("derived", "own", "second", "shared", "again", "kept"),
    "cxx-static": ("derived", "own", "at", "quiet", "inner", "again", "index"),
    "cxx-hidden": ("derived", "own", "at", "quiet", "inner", "again"),
    "cxx-32": ("derived", "fixed", "second", "int", "at", "inner"),
    "python": ("early", "late", "state"),
    "c-aarch64": ("assertion", "free", "smashed", "too-long"),
    "cxx-aarch64": ("index", "derived", "own", "fixed", "second", "shared", "int", "at", "quiet",
                    "inner"),
    "cxx-aarch64-plain": ("derived", "own", "second", "shared"),
    "go": ("index", "text", "error", "own", "nothing", "number", "maps", "unlock"),
    **{name: PANICS for name in PROGRAMS if name.endswith("-abort")},
    **{name: ("twice", "deep") for name in PROGRAMS if name.endswith("-unwind")},
}  # fmt: skip

# Of each: what may be told. Nothing else is.
SILENT = {
    "c": {"spoiled": {"abort"}, "survived": {"abort"}, "abort": {"abort"}},
    "c-static": {"own words": {"sent"}, "survived": {"sent"}, "abort": {"sent"}},
    "c-musl": {"own words": {"abort"}, "survived": {"abort"}, "abort": {"abort"}},
    "python": {"end": {"abort"}},
    "cxx": {"spoiled": {"exception"}, "caught": {"null-access"}, "caught-aborts": {"abort"},
            "handles": {"abort"}, "imitates": {"abort"}},
    "cxx-static": {"caught": {"null-access"}, "caught-aborts": {"sent"}, "handles": {"sent"},
                   "imitates": {"sent"},
                   "kept": {"exception"}, "terminate": {"exception"}},
    "cxx-hidden": {"caught": {"null-access"}, "handles": {"abort"}, "kept": {"exception"}},
    "cxx-aarch64": {"kept": {"exception"}, "handles": {"abort"}},
    "cxx-32": {"caught": {"null-access"}, "kept": {"exception"}},
    **{name: {"any": {"abort"}, "end": {"abort"}} for name in TOLD if name.endswith("-abort")},
    **{name: {"caught": {"abort"}, "end": {"abort"}, "faults": {"null-access"}}
       for name in TOLD if name.endswith("-unwind")},
}  # fmt: skip


def backtrace(*arguments: str | Path) -> str:
    line = [sys.executable, str(SCRIPT), "bt", *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def told(name: str, how: str) -> tuple[dict[str, Any], list[str]]:
    """What is said of a program's end, and what it said itself."""
    hows = (*TOLD.get(name, ()), *SILENT.get(name, ()))
    end = ended(name, hows)[how]
    if "aarch64" in name:
        return happened(end.core, replace(ALONE, sysroot=SYSROOT), end.exe), end.said
    return happened(end.core, ALONE), end.said


@pytest.mark.parametrize(("name", "how"), [(name, how) for name in TOLD for how in TOLD[name]])
def test_the_text_is_told(name: str, how: str) -> None:
    found, said = told(name, how)
    assert said
    if how == "twice":  # of the first of two panics the place lies there, too
        del said[1:]
    for text in said:
        wanted = text.removeprefix("Assertion failed: ")
        if name in ("c-static", "c-plain"):
            wanted = wanted.removeprefix("ledger: ")
        assert wanted in found["sentence"], found


@pytest.mark.parametrize("name", TOLD)
def test_the_quick_look_hides_nothing(name: str) -> None:
    """Above a backtrace stands what the close look tells, whatever the end."""
    search = replace(ALONE, sysroot=SYSROOT) if "aarch64" in name else ALONE
    for how, end in ended(name, (*TOLD[name], *SILENT.get(name, ()))).items():
        with whocall.open_core(end.core, end.exe, search=search) as image:
            report = image.report()
            (crashed,) = (each for each in report.threads if each.crashed)
            index = [each.lwp for each in image.threads].index(crashed.lwp)
            whole = image.backtrace(index, Walk(past_main=True))
            fact = causes.last_words(Scene(image, index, whole), asks_others=True)
            told = last_words(image, report)
            assert told == ("" if fact is None else printable(fact.text.rstrip("."))), how


@pytest.mark.parametrize(("name", "how"), [(name, how) for name in SILENT for how in SILENT[name]])
def test_no_text_is_made_up(name: str, how: str) -> None:
    found, _ = told(name, how)
    assert {fact["kind"] for fact in found["facts"]} == SILENT[name][how], found
    for word in ("row", "missing", "Assertion", "AAAA", "caught: ", "panicked", "corrupted"):
        assert word not in found["sentence"].replace("was not caught", ""), found


def test_calls_that_share_a_tail_have_no_text_of_another() -> None:
    """The compiler lets two failed assertions go on at the same call, with other lines."""
    hows = ("assertion", "spoiled")
    for end in (ended("c-small", hows)[how] for how in hows):
        found = happened(end.core, ALONE)
        told = end.said[0].removeprefix("ledger: ") in found["sentence"]
        assert told or {fact["kind"] for fact in found["facts"]} == {"sent"}, found


@pytest.mark.parametrize("name", ["c", "c-static", "c-musl", "c-musl-static"])
def test_the_programs_own_frame_is_named(name: str) -> None:
    found, _ = told(name, "assertion")
    assert found["sentence"].startswith("ledger was ended by SIGABRT in main"), found


@pytest.mark.parametrize(
    "name", [name for name in PROGRAMS if name.startswith("rust") and name.endswith("-abort")]
)
def test_the_frame_of_a_panic_is_that_whose_code_names_its_place(name: str) -> None:
    """Functions of core stand between the handlers of all panics and some of them alone: main()
    is the same function in each. With LTO, assert_failed() has a copy for the place.
    """
    frames = {}
    for how in ("index", "unwrap", "format", "literal", *["lines"] * ("lto" not in name)):
        found, _ = told(name, how)
        said = r" in (\w+)\+\d+ of ledger: it panicked at ledger\.rs:"
        in_main = re.search(said, found["sentence"])
        assert in_main, found
        frames[how] = in_main[1]
    assert len(set(frames.values())) == 1, frames


def test_a_named_function_of_rusts_library_is_not_the_programs_own(tmp_path: Path) -> None:
    source, exe = tmp_path / "rows.rs", tmp_path / "rows"
    source.write_text(
        "#[inline(never)] fn part(rows: &[u8], at: usize) -> &[u8] { &rows[at..at + 8] }\n"
        'fn main() { println!("{:?}", part(&[1, 2, 3], std::env::args().count())) }\n'
    )
    subprocess.run([RUSTC, "-O", "-Cpanic=abort", "-o", exe, source], check=True)
    found = happened(crash(exe, tmp_path).core, ALONE)
    assert found["sentence"].startswith("rows was ended by SIGABRT in rows::part"), found


@pytest.mark.parametrize(("name", "how"), [("cxx", "derived"), ("rust-abort", "format")])
def test_gdb_and_the_command_line_tell_the_same(name: str, how: str) -> None:
    end = ended(name, (*TOLD[name], *SILENT[name]))[how]
    line = why(end.core).splitlines()[0]
    assert all(text in line for text in end.said)
    assert line in in_gdb("whocall why", files=(end.core.parents[2] / "ledger", end.core))


@pytest.mark.parametrize(
    ("name", "how"),
    [("c", "assertion"), ("c", "smashed"), ("cxx", "derived"), ("rust-abort", "format"),
     ("go", "own"), ("python", "state")],
)  # fmt: skip
def test_a_backtrace_begins_with_them(name: str, how: str) -> None:
    """Below the line that tells the signal, in gdb as outside."""
    end = ended(name, (*TOLD[name], *SILENT.get(name, ())))[how]
    head, cause, *_ = backtrace(end.core, end.exe).splitlines()
    assert "was ended by SIGABRT" in head
    assert cause.startswith("Cause: ")
    assert all(text in cause for text in end.said)
    assert f"{head}\n{cause}\n#0 " in in_gdb(
        "set width 0", "set filename-display absolute", "whocall bt", files=(end.exe, end.core)
    )


@pytest.mark.parametrize(("name", "how"), [("c", "assertion"), ("rust-abort", "format")])
def test_a_script_gets_what_text_tells(name: str, how: str) -> None:
    """In JSON, by the shell's command, by gdb's, and by that of GDB/MI."""
    end = ended(name, (*TOLD[name], *SILENT.get(name, ())))[how]
    head, cause, *_ = backtrace(end.core, end.exe).splitlines()
    document = json.loads(backtrace(end.core, end.exe, "--json"))
    jsonschema.validate(document, SCHEMA)
    told = document["threads"][0]["happened"]
    assert told["sentence"] == f"{head} {cause}"
    assert cause == f"Cause: {told['last_words']}."
    in_mi = 'interpreter-exec mi "-whocall-backtrace"'
    said = in_gdb("whocall bt -json", in_mi, files=(end.exe, end.core))
    words = json.dumps(told["last_words"], ensure_ascii=False)
    assert f'"last_words": {words},' in said
    assert f"last_words={words}," in said
    old = json.loads(backtrace(end.core, end.exe, "--json", "--schema", "1"))
    assert "happened" not in old["threads"][0]


def test_long_words_leave_room_for_the_frames(tmp_path: Path) -> None:
    source, exe = tmp_path / "long.cpp", tmp_path / "long"
    source.write_text(
        "#include <stdexcept>\n#include <string>\n"
        "int main() { throw std::runtime_error(\"\\n#1 fake\" + std::string(1 << 20, 'A')); }\n"
    )
    subprocess.run(["g++", "-O1", "-s", "-o", exe, source], check=True)
    core = crash(exe, tmp_path).core
    said = backtrace(core).splitlines()
    assert "was not caught: \\n#1 fakeAAAA" in said[1]
    assert said[1].endswith("AAA... (`whocall why` has more of it).")
    assert len(said[1]) < 500
    assert said[2].startswith("#0 ")
    happened = json.loads(backtrace(core, "--json"))["threads"][0]["happened"]
    assert f"Cause: {happened['last_words']}." == said[1]


def test_a_text_of_rust_ends_where_its_length_says() -> None:
    end = ended("rust-abort", (*TOLD["rust-abort"], *SILENT["rust-abort"]))["unwrap"]
    said = backtrace(end.core, end.exe, "--past-main")
    texts = [
        (text, int(length))
        for text, length in re.findall(r'0x[0-9a-f]+ "((?:[^"\\]|\\.)*)", (\d+)', said)
    ]
    assert texts
    assert all(len(text) <= length for text, length in texts), texts


def test_an_end_without_words_has_no_cause() -> None:
    end = ended("c", (*TOLD["c"], *SILENT["c"]))["abort"]
    assert backtrace(end.core).splitlines()[1].startswith("#0 ")
    happened = json.loads(backtrace(end.core, "--json"))["threads"][0]["happened"]
    assert happened["last_words"] is None
    assert "Cause" not in happened["sentence"]


def test_a_live_programs_words_are_told() -> None:
    """Where the thread keeps its exceptions is told by a register that gdb lists among none."""
    exe = ended("cxx", (*TOLD["cxx"], *SILENT["cxx"]))["terminate"].exe
    said = in_gdb("set environment HOW kept", "run", "whocall why", "kill", files=(exe,))
    assert "std::terminate() was called without an active exception" in said

"""A stripped program crashes under libwhocall; on another file system its report has the names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from acceptance.logs.judging import document, judge, within
from acceptance.logs.log_programs import Ran, build, ran, resolved

BUILDS = {
    "moved": (),
    "not moved": ("-no-pie",),
    "optimized": ("-O2",),
    "without optimization": ("-O0",),
    "with frame pointers": ("-fno-omit-frame-pointer",),
}


def crash(built_directory: Path, place: Path, flags: tuple[str, ...], **variables: str) -> Ran:
    """The report on standard error, or where the variables say."""
    library = built_directory / "whocall" / "libwhocall-crash.so"
    assert library.is_file()
    return ran(build(*flags), place / "ran", LD_PRELOAD=str(library), **variables)


def symbols(place: Path, flags: tuple[str, ...]) -> Path:
    """Another tree: the debug file under a name that says nothing."""
    tree = place / "elsewhere" / "2a"
    tree.mkdir(parents=True)
    shutil.copy(build(*flags).debug, tree / "x")
    return place / "elsewhere"


@pytest.mark.parametrize("kind", BUILDS)
def test_a_printed_crash(tmp_path: Path, build_directory: Path, kind: str) -> None:
    """Frames, names and lines of the twin, by build id."""
    flags = BUILDS[kind]
    report = crash(build_directory, tmp_path, flags)
    assert "crash+" not in report.text
    assert not report.path.exists()
    found = document(report.text, "--symbols", symbols(tmp_path, flags))
    places = judge(found, build(*flags).full)
    assert all(each["verified"] for each in places)
    assert [each["is_return_address"] for each in places[:2]] == [False, True]


def test_the_report_is_written_back_whole(tmp_path: Path, build_directory: Path) -> None:
    """Names stand where question marks stood; nothing else has changed."""
    report = crash(build_directory, tmp_path, ())
    text = resolved(report.text, "--symbols", symbols(tmp_path, ())).stdout
    for before, after in zip(report.text.splitlines(), text.splitlines()):
        if before.startswith("#") and "/prog(+" in before:
            head, _, tail = before.partition(" ? [")
            assert after.startswith(head + " ")
            assert after.endswith(" [" + tail)
        elif not before.startswith("#"):
            assert before == after
    assert "deep at who.c:" in text
    assert len(report.text.splitlines()) == len(text.splitlines())


def test_records(tmp_path: Path, build_directory: Path) -> None:
    """Of a file and of a ring: the frames that the text has."""
    report = crash(build_directory, tmp_path, ())
    file, ring = tmp_path / "record", tmp_path / "ring"
    crash(build_directory, tmp_path, (), WHOCALL_CRASH_RECORD=str(file))
    for _ in range(2):
        crash(
            build_directory, tmp_path, (),
            WHOCALL_CRASH_RING=str(ring), WHOCALL_CRASH_RING_SIZE="65536",
        )  # fmt: skip
    tree = symbols(tmp_path, ())
    told = within(document(report.text, "--symbols", tree), "prog")
    for path, count in ((file, 1), (ring, 2)):
        found = document("", "--symbols", tree, path)
        places = judge(found, build().full)
        assert [each["rva"] for each in places] == [each["rva"] for each in told] * count
        assert [each["function"] for each in places] == [each["function"] for each in told] * count

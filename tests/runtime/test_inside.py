"""`whocall.inside`: libwhocall in a process of Python."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.lab import NATIVE, PRELOAD
from runtime.reports import read_record, read_reports
from whocall.inside.layout import WhocallCrashOptions, WhocallFrame

STRUCTURES = {
    "whocall_frame": WhocallFrame,
    "whocall_crash_options": WhocallCrashOptions,
}


def run_python(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **settings}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_structures_are_those_of_the_header(tmp_path: Path) -> None:
    lines = ["#include <stdio.h>", "#include <stddef.h>", '#include "runtime/whocall.h"']
    lines += ["int main(void) {"]
    told = []
    for name, structure in STRUCTURES.items():
        lines.append(f'  printf("%zu\\n", sizeof({name}));')
        told.append(ctypes.sizeof(structure))
        for field, *_ in structure._fields_:
            lines.append(f'  printf("%zu\\n", offsetof({name}, {field}));')
            told.append(getattr(structure, field).offset)
    source, exe = tmp_path / "told.c", tmp_path / "told"
    source.write_text("\n".join([*lines, "  return 0;", "}", ""]))
    subprocess.run(["gcc", f"-I{NATIVE}", source, "-o", exe], check=True)
    ran = subprocess.run([exe], capture_output=True, text=True, check=True)
    assert [int(line) for line in ran.stdout.split()] == told


def test_native_frames_of_the_interpreter() -> None:
    ran = run_python(
        "from whocall import inside\n"
        "frames = inside.backtrace()\n"
        "for frame in frames: print(frame)\n"
        "assert inside.backtrace(0) == []\n"
        "assert all(len(frame.build_id) in (0, 40) for frame in frames)\n"
        "assert any(frame.build_id for frame in frames)\n"
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) > 5
    assert not any("libffi" in line or "ctypes" in line for line in lines)
    assert any("Py_RunMain" in line or "Py_BytesMain" in line for line in lines)
    assert "_start+" in lines[-1]
    assert all(line.endswith(("[cfi]", "[analysis]", "[context]")) for line in lines)


CRASH = (
    "import ctypes\n"
    "from whocall import inside\n"
    "inside.install(text_path='%p.text', record_path='%p.record')\n"
    "inside.annotate('release', '4.2')\n"
    "ctypes.string_at(16)\n"
)


@pytest.mark.parametrize("preload", [False, True], ids=["loaded", "preloaded"])
def test_a_crash(preload: bool, tmp_path: Path) -> None:
    settings = {"LD_PRELOAD": str(PRELOAD)} if preload else {}
    ran = run_python(f"import os; os.chdir({str(tmp_path)!r})\n{CRASH}", **settings)
    assert ran.returncode == -11, ran.stderr
    assert ran.stderr == ""
    (text,) = tmp_path.glob("*.text")
    (record,) = tmp_path.glob("*.record")
    (report,) = read_reports(text.read_text())
    assert report.complete
    assert "annotation: release = 4.2" in report.lines
    assert "Py_BytesMain" in report.names
    assert read_record(record.read_bytes())[0].annotations == {"release": "4.2"}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("inside.annotate('a=b', 'c')", "'a=b' cannot be told in reports: Invalid argument"),
        ("inside.annotate('a', 'b\\0c')", "keys and values of annotations have no zero in them"),
        ("inside.install(question_signal=11)", "cannot be installed: Invalid argument"),
        ("inside.backtrace(-1)", "-1 frames are no number of frames"),
    ],
)
def test_what_cannot_be(call: str, sentence: str) -> None:
    ran = run_python(
        f"import whocall\nfrom whocall import inside\ntry:\n    {call}\n"
        "except whocall.Error as error:\n    print(error)\n"
    )
    assert sentence in ran.stdout, ran.stderr


def test_a_library_of_another_version(tmp_path: Path) -> None:
    (tmp_path / "whocall").mkdir()
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "/dev/null", "-o", tmp_path / "whocall" / "libwhocall.so"],
        check=True,
    )
    ran = run_python(
        "import whocall\nfrom whocall import inside\ntry:\n    inside.prepare()\n"
        "except whocall.Error as error:\n    print(error)\n",
        WHOCALL_BUILD_DIR=str(tmp_path),
    )
    assert "libwhocall.so is of another version than whocall's package" in ran.stdout, ran.stderr

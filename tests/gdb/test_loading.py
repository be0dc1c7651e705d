"""Sourcing the extension."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sessions import GDB, SCRIPT, batch, environment


def session(*arguments: str) -> subprocess.CompletedProcess[str]:
    """gdb without -batch, at the end of its input at once."""
    return subprocess.run(
        [GDB, "-nx", "-q", *arguments, "-ex", f"source {SCRIPT}"],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_silent_in_batch_mode() -> None:
    said = batch([])
    assert (said.out, said.err, said.status) == ("", "", 0)


@pytest.mark.parametrize("option", ["--batch", "-batch-silent", "--batch-s"])
def test_silent_in_every_spelling_of_batch(option: str) -> None:
    ran = session(option)
    assert (ran.stdout, ran.stderr) == ("", "")


@pytest.mark.parametrize("options", [["-i=mi"], ["--interpreter=mi2"], ["-i", "mi3"]])
def test_silent_under_the_machine_interface(options: list[str]) -> None:
    ran = session(*options)
    assert "whocall" not in ran.stdout


def test_one_banner_line_otherwise() -> None:
    greeting = [line for line in session().stdout.splitlines() if "whocall" in line]
    assert len(greeting) == 1
    assert greeting[0].startswith("whocall ")


def test_batch_among_the_programs_arguments_is_not_gdbs() -> None:
    ran = subprocess.run(
        [GDB, "-nx", "-q", "-ex", f"source {SCRIPT}", "--args", sys.executable, "-batch"],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "help whocall" in ran.stdout


def test_sourcing_again_is_harmless() -> None:
    said = batch([f"source {SCRIPT}", "help whocall bt"])
    assert said.status == 0
    assert said.out.startswith("Print the true backtrace")


def test_loading_leaves_nothing_in_the_users_namespace_and_loads_no_native_module() -> None:
    said = batch(
        [
            "python print([n for n in dir() if 'whocall' in n or n in ('Path', 'import_module')])",
            "python print('whocall._native' in sys.modules,"
            " 'whocall.base.process_image' in sys.modules)",
        ]
    )
    assert said.out.split("\n")[:2] == ["[]", "False False"]


def test_another_script_may_source_it(tmp_path: Path) -> None:
    """gdb leaves `__file__` of the outer script as it is, whatever that sources."""
    outer = tmp_path / "outer.py"
    outer.write_text(f"import gdb\ngdb.execute('source {SCRIPT}')\nprint(__file__)\n")
    said = batch(["help whocall bt"], script=outer)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"{outer}\nPrint the true backtrace")


def copied(folder: Path) -> Path:
    """The extension without a native module and without a checkout around it."""
    shutil.copytree(SCRIPT.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "whocall.py"


def test_without_the_package_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    alone = Path(shutil.copy(SCRIPT, tmp_path))
    said = batch([], script=alone)
    assert "pip install whocall" in said.err
    assert len(said.err.splitlines()) == 1
    said = batch(["whocall bt"], script=alone)
    assert said.status == 1
    assert len(said.err.splitlines()) == 2


def test_without_the_native_module_the_error_has_the_remedy_and_doctor_works(
    tmp_path: Path,
) -> None:
    script = copied(tmp_path / "ext")
    nowhere = str(tmp_path / "nowhere")
    said = batch(["whocall doctor"], script=script, WHOCALL_BUILD_DIR=nowhere)
    assert said.status == 0
    assert "MISSING" in said.out
    assert "fix it with: " in said.out
    said = batch(["whocall doctor -json"], script=script, WHOCALL_BUILD_DIR=nowhere)
    assert json.loads(said.out)["healthy"] is False
    said = batch(["whocall bt"], script=script, WHOCALL_BUILD_DIR=nowhere)
    assert said.status == 1
    assert "-m pip install" in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_module_for_another_python_is_named(tmp_path: Path) -> None:
    script = copied(tmp_path / "ext")
    other = tmp_path / "whocall" / "_native.cpython-35-x86_64-linux-gnu.so"
    other.parent.mkdir()
    other.write_bytes(b"")
    said = batch(["whocall bt"], script=script, WHOCALL_BUILD_DIR=str(tmp_path))
    assert said.status == 1
    assert "it is built for Python 3.5" in said.err
    assert str(other) in said.err


def test_a_damaged_module_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    said = batch(["python import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"])
    damaged = tmp_path / "whocall" / f"_native{said.out.strip()}"
    damaged.parent.mkdir()
    damaged.write_bytes(b"no module")
    script = copied(
        tmp_path / "ext"
    )  # away from the checkout, which may have one for another Python
    said = batch(["whocall bt"], script=script, WHOCALL_BUILD_DIR=str(tmp_path))
    assert said.status == 1
    assert "cannot be used" in said.err
    assert "Traceback" not in said.err


def test_the_installed_script_finds_the_package_that_holds_it(tmp_path: Path) -> None:
    script = copied(tmp_path / "site-packages")
    share = script.parent / "whocall" / "share"
    share.mkdir()
    installed = Path(shutil.move(script, share / "whocall.py"))
    said = batch(["help whocall bt"], script=installed)
    assert said.status == 0
    assert "Usage: whocall bt" in said.out

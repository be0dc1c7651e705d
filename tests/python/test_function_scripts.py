"""Scripts that give disassemblers the functions of a file. They run here beside stand-ins of what
those hand to scripts: what arrives is what `whocall functions` lists, whatever names a file has.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from oracles.tools import run

from whocall.cli import main as cli

BASE = 0x7000000
HOSTILE = "a\"\\\n;`id`|$(id)'''#é"
SOURCE = r"""
__attribute__((noinline)) void hostile(void) { __asm__ volatile(""); }
static __attribute__((noinline)) void quiet(void) { __asm__ volatile(""); }
int main(void) { hostile(); quiet(); return 0; }
"""


class Seen:
    """Functions by address from the beginning of the image: their names."""

    def __init__(self) -> None:
        self.names: dict[int, str | None] = {}
        self.remarks: dict[int, str] = {}

    def function(self, address: int) -> Any:
        """What a disassembler has there; None where it has none yet."""
        if address not in self.names:
            return None
        return SimpleNamespace(
            start_ea=address,
            setName=lambda name, kind: self.names.__setitem__(address, name),
            setComment=lambda text: self.remarks.__setitem__(address, text),
        )

    def create(self, address: int, *_: object) -> Any:
        """Has one there from now on."""
        self.names.setdefault(address, None)
        return self.function(address)


class _Address(int):
    def add(self, offset: int) -> _Address:
        """Ghidra's addresses are no numbers."""
        return _Address(self + offset)


def _module(name: str, **what: object) -> None:
    made = ModuleType(name)
    vars(made).update(what)
    sys.modules[name] = made


def run_in_ghidra(text: str, seen: Seen) -> None:
    for name in ("ghidra", "ghidra.program", "ghidra.program.model"):
        _module(name)
    kinds = SimpleNamespace(ANALYSIS="analysis", IMPORTED="imported")
    _module("ghidra.program.model.symbol", SourceType=kinds)
    program = SimpleNamespace(getImageBase=lambda: _Address(BASE))
    scope = {
        "currentProgram": program,
        "getFunctionAt": seen.function,
        "getFunctionContaining": seen.function,
        "createFunction": seen.create,
        "disassemble": lambda address: None,
    }
    exec(text, scope)


def run_in_ida(text: str, seen: Seen) -> None:
    _module("ida_nalt", get_imagebase=lambda: BASE)
    _module(
        "ida_funcs",
        get_func=seen.function,
        add_func=seen.create,
        set_func_cmt=lambda each, said, _: seen.remarks.__setitem__(each.start_ea, said),
    )
    _module(
        "ida_name",
        SN_NOWARN=1,
        SN_FORCE=2,
        set_name=lambda address, name, flags: seen.names.__setitem__(address, name),
    )
    exec(text, {})


class _OfBinaryNinja:
    """Sets names by attributes."""

    def __init__(self, seen: Seen, address: int) -> None:
        object.__setattr__(self, "_place", (seen, address))

    def __setattr__(self, name: str, value: str) -> None:
        seen, address = self._place
        {"name": seen.names, "comment": seen.remarks}[name][address] = value


def run_in_binja(text: str, seen: Seen) -> None:
    def at(address: int) -> _OfBinaryNinja | None:
        return _OfBinaryNinja(seen, address) if address in seen.names else None

    view = SimpleNamespace(
        start=BASE,
        get_function_at=at,
        get_functions_containing=lambda address: [],
        create_user_function=lambda address: seen.create(address) and at(address),
    )
    exec(text, {"bv": view})


def run_in_r2(text: str, seen: Seen) -> None:
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        made = re.fullmatch(r"af @ (0x[0-9a-f]+)", line)
        if made:
            seen.create(BASE + int(made[1], 16))
            continue
        named = re.fullmatch(r"afn ([A-Za-z0-9_.]+) @ (0x[0-9a-f]+)", line)
        assert named, line
        seen.names[BASE + int(named[2], 16)] = named[1]


RUNS: dict[str, Callable[[str, Seen], None]] = {
    "ghidra": run_in_ghidra, "ida": run_in_ida, "binja": run_in_binja, "r2": run_in_r2,
}  # fmt: skip


@pytest.fixture(name="modules")
def _modules() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture(scope="module", name="programs")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """With a name that means something in every language, and at two kinds of places."""
    folder = tmp_path_factory.mktemp("scripts")
    made = {}
    for kind in ("-pie", "-no-pie"):
        made[kind] = folder / f"it's{kind}"
        command = ["gcc", "-O1", kind, "-x", "c", "-", "-o", str(made[kind])]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        run(["objcopy", "--redefine-sym", f"hostile={HOSTILE}", str(made[kind])])
    return made


def _written(path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["functions", str(path), "--format", form]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def _listed(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert cli.main(["functions", str(path), "--json", "--no-demangle"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["modules"][0]["functions"]
    return found


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
@pytest.mark.parametrize("form", RUNS)
def test_what_arrives(
    form: str, kind: str, programs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every function is where it lies, from the beginning of the image on, and has its name."""
    seen = Seen()
    RUNS[form](_written(programs[kind], form, capsys), seen)
    first = 0 if kind == "-pie" or form == "r2" else 0x400000
    listed = _listed(programs[kind], capsys)
    assert len(listed) > 5
    allowed = "A-Za-z0-9_." if form == "r2" else "A-Za-z0-9_.$@:~"
    wanted = {
        BASE + int(each["start"], 16) - first: re.sub(f"[^{allowed}]", "_", each["raw_name"])
        if each["named"]
        else None
        for each in listed
    }
    assert seen.names == wanted
    assert "main" in wanted.values()
    assert any(name and name.startswith("a__") for name in seen.names.values())
    assert form == "r2" or "whocall: symtab" in seen.remarks.values()


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("form", ["ghidra", "ida", "binja"])
def test_many_functions_in_small_constants(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jython, which Ghidra has, limits constants and the code of a file, and takes ASCII alone."""
    program = tmp_path / "prögram"
    text = "".join(
        f"int function_with_a_name_{at}(void) {{ return {at}; }}\n" for at in range(3000)
    )
    subprocess.run(
        ["gcc", "-O1", "-x", "c", "-", "-o", str(program)],
        input=text + "int main(void) { return 0; }", text=True, check=True,
    )  # fmt: skip
    script = _written(program, form, capsys)
    assert script.isascii()
    assert max(map(len, re.findall(r'"""(?:[^"]|"(?!""))*"""', script))) < 1 << 15
    seen = Seen()
    RUNS[form](script, seen)
    assert (
        sum(str(name).startswith("function_with_a_name_") for name in seen.names.values()) == 3000
    )


def test_where_it_is_of_no_use(
    programs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON is a form of its own, and only files of a known form are loaded by those programs."""
    program = str(programs["-pie"])
    assert cli.main(["functions", program, "--format", "ida", "--json"]) == 2
    assert "--format is for the functions" in capsys.readouterr().err
    assert cli.main(["functions", program, "--format", "hopper"]) == 2
    assert "hopper" in capsys.readouterr().err
    text = tmp_path / "text.srec"
    text.write_text("S00600004844521B\nS1130000285F245F2212226A000424290008237C2A\nS9030000FC\n")
    assert cli.main(["functions", str(text), "--format", "ida"]) == 2
    assert "of ELF programs and libraries" in capsys.readouterr().err

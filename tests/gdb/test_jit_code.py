"""Code that a JIT compiler registered for debuggers, which gdb reads too."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from sessions import batch

SOURCES = Path(__file__).parents[1] / "acceptance" / "runtimes"
CHAIN = ["stop", "inner", "deep", "deep", "deep", "outer", "main"]
FLAGS = "-O2 -fomit-frame-pointer -fno-ipa-cp -fno-inline -fno-optimize-sibling-calls"


def functions(text: str) -> list[str]:
    """Of a backtrace, whosever."""
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+)", text, re.MULTILINE)


def test_beside_gdbs_own_reading(tmp_path: Path) -> None:
    """The same names; `repair` leaves gdb what it has, `revert` tells of what it cannot."""
    code, program = tmp_path / "code.o", tmp_path / "program"
    options = ["-fcf-protection=none", "-c", str(SOURCES / "jit_object_code.c"), "-o", str(code)]
    subprocess.run(["gcc", *FLAGS.split(), *options], check=True)
    options = ["-O1", "-DLEFT", "-DCRASH", f'-DCODE="{code}"']
    source = str(SOURCES / "jit_object_program.c")
    subprocess.run(["gcc", *options, source, "-o", str(program)], check=True)
    commands = ["set startup-with-shell off", "run", "echo {1}\\n", "bt", "echo {2}\\n"]
    commands += ["whocall bt", "echo {3}\\n", "whocall compare", "echo {4}\\n", "whocall modules"]
    commands += ["whocall functions -module [JIT] ^dee", "whocall symbol $pc"]
    commands += ["up", "whocall symbol $pc", "echo {5}\\n"]
    commands += ["whocall repair", "echo {6}\\n", "bt", "echo {7}\\n", "whocall revert"]
    said = batch(commands, [program])
    _, own, ours, compared, listed, _, repaired, reverted = re.split(r"\{\d\}\n", said.out)
    assert functions(own) == CHAIN
    assert functions(ours) == CHAIN
    assert "[cfi]" in ours
    assert "missing in gdb" not in compared
    assert "false in gdb" not in compared
    assert "JIT code: 1 ELF file in memory, 3 functions" in listed
    assert "[JIT]: 1 function\n" in listed
    assert re.search(r"jit-object deep$", listed, re.MULTILINE)
    assert re.search(r"inner", listed.split("jit-object deep")[1])
    assert functions(repaired) == CHAIN
    assert "gdb has its own frames again" in reverted
    assert "warning: gdb has dropped what it had of JIT code" in said.err

"""Virtual tables of classes that no compiler made: what their descent may cost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.tools import asked, environment

ROOT = Path(__file__).resolve().parents[3]
CLASSES = 60_000
WORK = 40
"""Seconds of processor time; to ask of each class what it descends from takes many minutes."""


def _source(base: Callable[[int], int]) -> str:
    """Classes with one base each, and the same function in all their tables."""
    info = "_ZTVN10__cxxabiv120__si_class_type_infoE + 16"
    numbers = range(CLASSES)
    lines = [".section .rodata", *(f'name{at}: .asciz "6A{at:05}"' for at in numbers)]
    lines.append('.section .data.rel.ro, "aw"\n.balign 8')
    lines += [f"class{at}: .quad {info}, name{at}, class{base(at)}" for at in numbers]
    lines += [f".quad 0, class{at}, function" for at in numbers]
    lines.append(".text\n.type function, @function\nfunction: ret\n.size function, . - function")
    return "\n".join([*lines, '.section .note.GNU-stack, "", @progbits', ""])


@pytest.mark.parametrize(
    "base", [lambda at: max(at - 1, 0), lambda at: (at + 1) % CLASSES], ids=["chain", "circle"]
)
def test_deep_descent(base: Callable[[int], int], tmp_path: Path) -> None:
    made = tmp_path / "classes.so"
    command = ["gcc", "-shared", "-x", "assembler", "-", "-x", "none", "-lstdc++", "-o", str(made)]
    subprocess.run(command, input=_source(base), text=True, check=True, env=environment())
    subprocess.run(["strip", made], check=True)
    program = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "functions", str(made)]
    done = asked(["env", "WHOCALL_CACHE=off", *program], work=WORK)
    assert done.returncode == 0
    assert "A00001::[slot" not in done.stdout

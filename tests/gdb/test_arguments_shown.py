"""Arguments in gdb: its own settings of them are obeyed."""

from __future__ import annotations

from programs import shared
from sessions import batch

HANDING = r"""
__attribute__((noinline)) void last(const char *text, int n) { *(volatile int *)0 = text[0] + n; }
__attribute__((noinline)) void first(int n) { last("a text", n + 1); *(volatile int *)0 = n; }
int main(int count, char **words) { first(count + 40); return words[0][0]; }
"""


def lines(*commands: str) -> list[str]:
    crash = shared("handing-in-gdb", HANDING, "-O0 -w")
    said = batch([*commands, "echo <ours>\\n", "whocall bt"], [crash.exe, crash.core])
    ours = said.out.split("<ours>\n")[1].splitlines()
    return [line for line in ours if line.startswith(("#0", "#1"))]


def test_values() -> None:
    inner, outer = lines()
    assert '"a text", 42) +' in inner
    assert "(41) +" in outer


def test_settings_of_gdb() -> None:
    assert '"a t"..., 42)' in lines("set print elements 3")[0]
    assert '"a text"' in lines("set print elements 0")[0]
    assert "(...) +" in lines("set print frame-arguments presence")[0]
    assert "(..., ...) +" in lines("set print frame-arguments none")[0]
    assert '"a text", 42)' in lines("set print frame-arguments all")[0]


def test_none_where_nobody_wants_them() -> None:
    crash = shared("handing-in-gdb", HANDING, "-O0 -w")
    said = batch(["whocall bt -no-arguments"], [crash.exe, crash.core])
    assert "a text" not in said.out
    assert "(+" in said.out

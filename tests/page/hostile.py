"""A program whose every name holds markup, script and escapes: its path, its functions, its
message, what lies on its stack.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from causes.programs import compiled
from corpus.crash import crash

FOLDER = "<b onclick=hit()>&\"'`${x}\u2028\x1b[31m"
PROGRAM = "<img src=x onerror=hit()>"
FUNCTION = "<svg onload=hit()>{{7*7}}%s</script>"
MESSAGE = "</script><script>hit()</script>"

_PLACEHOLDER = "f_".ljust(len(FUNCTION), "x")

_SOURCE = f"""
#include <assert.h>
#include <string.h>
__attribute__((noipa)) void {_PLACEHOLDER}(int n) {{
    volatile char held[48];
    memcpy((char *)held, "</scriptonload=1<!--<svg", 24);
    assert(n > 5 && "{MESSAGE}");
    __asm__ volatile("" :: "r"(held) : "memory");
}}
int main(int c, char **v) {{ {_PLACEHOLDER}(c); return 0; }}
"""


def hostile_core(place: Path) -> Path:
    """The core."""
    exe = compiled(_SOURCE, place / FOLDER / "program", "-g0")
    data = exe.read_bytes()
    assert data.count(_PLACEHOLDER.encode()) >= 1
    named = exe.with_name(PROGRAM)
    named.write_bytes(data.replace(_PLACEHOLDER.encode(), FUNCTION.encode()))
    shutil.copymode(exe, named)
    exe.unlink()
    return crash(named, named.parent).core

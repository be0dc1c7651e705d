"""Code whose table says that its caller was interrupted, and which was called like any other.

OCaml 5 marks caml_c_call so; real trampolines are told as before (the corpora have them).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

from acceptance.helpers import chains
from whocall.base.process_image import Walk

FLAGGED = """
__attribute__((noipa)) int leaf(int n) { return *(volatile int *)(long)n; }
int through(int (*)(int), int);
__asm__(".text; .type through, @function; through: .cfi_startproc; .cfi_signal_frame;"
        "sub $8, %rsp; .cfi_adjust_cfa_offset 8; mov %rdi, %rax; mov %esi, %edi; call *%rax;"
        "add $8, %rsp; .cfi_adjust_cfa_offset -8; ret; .cfi_endproc; .size through, . - through");
__attribute__((noipa)) int above(int n) { return through(leaf, n) + 1; }
int main(int c, char **v) { return above(c - 1) + (v == 0); }
"""


@pytest.mark.parametrize("stripped", [False, True], ids=["symbols", "stripped"])
def test_no_signal_is_told(stripped: bool, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(FLAGGED, encoding="utf-8")
    exe = tmp_path / "program"
    run(["gcc", "-O2", "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path).core
    if stripped:
        run(["strip", str(exe)], tmp_path)
    (found,) = chains.of_core(core, exe, Walk(past_main=True)).values()
    frames = found.frames[:4]
    assert not any(frame.signal_trampoline for frame in frames), chains.listing(found)
    assert [frame.trust for frame in frames] == ["context", "cfi", "cfi", "cfi"]
    if not stripped:
        names = [frame.function for frame in frames]
        assert names == ["leaf", "through", "above", "main"], chains.listing(found)

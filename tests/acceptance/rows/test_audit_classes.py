"""Each class of difference between the analysis and an unwind table, on the smallest code that
shows it. The table is written by hand beside the code, and wrong or beyond the analysis on purpose.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from whocall.base.native_module import native
from whocall.report.tables.audit import CLASSES

# Name: the class; the code of `f`, with the instruction meant behind the label `here`.
SNIPPETS = {
    "table-incomplete": """
        push %rbx
here:   push %rbp
        pop %rbp
        pop %rbx
        ret""",
    "table-late": """
        push %rbx
here:   xor %eax, %eax
        .cfi_adjust_cfa_offset 8
        xor %ecx, %ecx
        pop %rbx
        .cfi_adjust_cfa_offset -8
        ret""",
    "table-early": """
        .cfi_remember_state
        xor %ecx, %ecx
        .cfi_adjust_cfa_offset 8
here:   xor %eax, %eax
        .cfi_restore_state
        ret""",
    "another-stack": """
        mov (%rdi), %rbx
        .cfi_def_cfa rdi, 0
here:   mov 8(%rdi), %rsp
        jmp *%rbx""",
    "computed-stack-pointer": """
        mov 8(%rdi), %rsp
here:   ret""",
    "joined-paths": """
        test %edi, %edi
        je here
        push %rax
here:   xor %eax, %eax
        ret""",
    "kept-over-call": """
        lea 8(%rsp), %r11
        .cfi_def_cfa r11, 0
        sub $64, %rsp
        and $-32, %rsp
        call *%rax
here:   lea -8(%r11), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "call-without-return": """
        push %rbx
        .cfi_adjust_cfa_offset 8
        call other
        .cfi_adjust_cfa_offset 992
here:   xor %eax, %eax
        ret""",
    "called-inside": """
        sub $24, %rsp
        .cfi_adjust_cfa_offset 24
        call here
        add $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        .cfi_adjust_cfa_offset 992
here:   xor %eax, %eax
        ret""",
    "landing-pad": """
        sub $24, %rsp
        .cfi_adjust_cfa_offset 24
        call other
        add $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret
        .cfi_adjust_cfa_offset 992
here:   xor %eax, %eax
        ret""",
    "jump-table": """
        sub $24, %rsp
        .cfi_adjust_cfa_offset 24
        jmp *(%rax, %rdi, 8)
        .cfi_adjust_cfa_offset 992
here:   xor %eax, %eax
        add $24, %rsp
        .cfi_adjust_cfa_offset -24
        ret""",
    "entered-by-jump": """
        xor %eax, %eax
        jmp here
        .cfi_endproc
        .size f, . - f
        .p2align 4
        .type part, @function
part:   .cfi_startproc
        .cfi_def_cfa_offset 1000
here:   xor %eax, %eax
        ret""",
    "unknown-instruction": """
        ret
        .byte 0x06
        .cfi_adjust_cfa_offset 992
here:   xor %eax, %eax
        ret""",
    "saved-register": """
        push %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset rbx, -16
        .cfi_offset r12, -24
        xor %r12d, %r12d
here:   pop %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        .cfi_restore r12
        ret""",
}

FRAME = """
        .text
        .globl here, other
        .p2align 4
        .type f, @function
f:      .cfi_startproc
{code}
        .cfi_endproc
        .p2align 4
        .type other, @function
other:  .cfi_startproc
        mov %rdi, %rax
        ret
        .cfi_endproc
        .section .note.GNU-stack, "", @progbits
"""

ELSEWHERE = {
    "plt": "how stubs are decoded is tested on every file of test_audit.py",
    "unreached": "the analysis gets everywhere but to the end of the largest functions",
}


def test_every_class_is_here() -> None:
    assert sorted([*SNIPPETS, *ELSEWHERE]) == sorted(CLASSES)


@pytest.mark.parametrize("class_name", SNIPPETS)
def test_class(class_name: str, tmp_path: Path) -> None:
    source, library = tmp_path / "code.s", tmp_path / "code.so"
    source.write_text(FRAME.format(code=SNIPPETS[class_name]))
    subprocess.run(
        ["gcc", "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-o", library, source], check=True
    )
    table = native.open_symbols(str(library))
    [here] = [table[at].start for at in range(len(table)) if table[at].name == "here"]
    audit = native.audit(str(library))
    assert [(found.address, found.class_name) for found in audit.differences] == [
        (here, class_name)
    ]
    classes = {name for name, number in audit.instructions.classes.items() if number}
    assert classes == {class_name}

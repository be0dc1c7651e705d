"""Assembles instruction forms with hand-written unwind tables into tiny shared objects."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from acceptance.rows import code_forms_32
from acceptance.rows.code_forms_64 import FRAMES
from acceptance.rows.code_forms_64_flow import FLOWS

FORMS = {"x86_64": {**FRAMES, **FLOWS}, "i386": code_forms_32.FORMS}
OPTIONS = {"x86_64": ["-m64"], "i386": ["-m32"]}

SOURCE = """
        .set word, {word}
        .macro ADJUST size
        .cfi_adjust_cfa_offset \\size
        .endm
        .macro SAVE register
        push \\register
        .cfi_adjust_cfa_offset word
        .cfi_rel_offset \\register, 0
        .endm
        .macro RESTORE register
        pop \\register
        .cfi_adjust_cfa_offset -word
        .cfi_restore \\register
        .endm
        .macro SAVE_AT register, offset    # the CFA does not hang on the stack pointer
        push \\register
        .cfi_offset \\register, \\offset
        .endm
        .macro FRAME
        SAVE {fp}
        mov {sp}, {fp}
        .cfi_def_cfa_register {fp}
        .endm

        .text
        .p2align 4
        .globl f
        .type f, @function
f:      .cfi_startproc
{code}
        .cfi_endproc
        .size f, . - f
        .section .text.others, "ax", @progbits
        .p2align 4
other:  .cfi_startproc
        mov %edi, %eax
        ret
        .cfi_endproc
        .p2align 4
fatal:  .cfi_startproc
        test %edi, %edi
        je 1f
        sub $3*word, {sp}
        ADJUST 3*word
        call abort@PLT
1:      ADJUST -3*word
        ud2
        .cfi_endproc
        .p2align 4
__morestack: .cfi_startproc
        ret $2*(8-word)
        .cfi_endproc
{extra}
        .section .note.GNU-stack, "", @progbits
"""

# Only i386 has functions that pop arguments and that fetch the program counter.
EXTRA_32 = """
        .p2align 4
pops_4: .cfi_startproc
        mov 4(%esp), %eax
        ret $4
        .cfi_endproc
        .p2align 4
pops_8: .cfi_startproc
        test %eax, %eax
        jne 1f
        ret $8
1:      xor %eax, %eax
        ret $8
        .cfi_endproc
        .p2align 4
pops_by_jump: .cfi_startproc
        jmp pops_4
        .cfi_endproc
        .p2align 4
get_pc_bx: .cfi_startproc
        mov (%esp), %ebx
        ret
        .cfi_endproc
"""


def source_of(arch: str, name: str) -> str:
    """The assembly text of one form."""
    wide = arch == "x86_64"
    return SOURCE.format(
        word=8 if wide else 4,
        sp="%rsp" if wide else "%esp",
        fp="%rbp" if wide else "%ebp",
        code=FORMS[arch][name],
        extra="" if wide else EXTRA_32,
    )


def assemble(arch: str, text: str, folder: Path) -> Path:
    """Links assembly text into a shared object without any start-up code."""
    source, library = folder / "code.s", folder / "code.so"
    source.write_text(text)
    command = ["gcc", *OPTIONS[arch], "-shared", "-nostdlib", "-Wl,-z,lazy,-z,notext"]
    subprocess.run([*command, "-o", library, source], check=True, capture_output=True)
    return library


def count_instructions(file: Path) -> int:
    """How many instructions objdump finds in all code, without padding and what it cannot read."""
    listing = subprocess.run(
        ["objdump", "-dzw", "--no-show-raw-insn", file],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    texts = re.findall(r"^ +[0-9a-f]+:\t(.*)$", listing, re.MULTILINE)
    no_code = re.compile(
        r"(cs |data16 )*nop|xchg +%ax,%ax|\(bad\)|int3|lea +(%cs:)?(0x0)?\(%es[ip]"
    )
    return sum(no_code.match(text) is None for text in texts)

"""What x86-64 code does to its stack: function bodies with their unwind tables beside them.

The macros of `code_forms.py` keep push, pop and table together; FRAME is the usual beginning with
a frame pointer. `other` is a function that returns, `fatal` one that never does.
"""

from __future__ import annotations

FRAMES = {
    "push-pop": """
        SAVE %rbx
        SAVE %r15
        mov %rdi, %rbx
        call other
        RESTORE %r15
        RESTORE %rbx
        ret""",
    "push-values": """
        push $5
        ADJUST 8
        push (%rdi)
        ADJUST 8
        pushf
        ADJUST 8
        pushw $3
        ADJUST 2
        push %ax
        ADJUST 2
        call other
        pop %ax
        ADJUST -2
        popw (%rdi)
        ADJUST -2
        popf
        ADJUST -8
        pop (%rdi)
        ADJUST -8
        pop %rcx
        ADJUST -8
        ret""",
    "sub-add": """
        sub $40, %rsp
        ADJUST 40
        call other
        add $40, %rsp
        ADJUST -40
        add $-128, %rsp
        ADJUST 128
        call other
        sub $-128, %rsp
        ADJUST -128
        ret""",
    "lea": """
        lea -40(%rsp), %rsp
        ADJUST 40
        call other
        lea 40(%rsp), %rsp
        ADJUST -40
        ret""",
    "frame-pointer": """
        FRAME
        SAVE_AT %rbx, -24
        sub $24, %rsp
        call other
        mov -8(%rbp), %rbx
        leave
        .cfi_def_cfa rsp, 8
        ret""",
    "frame-pointer-pop": """
        FRAME
        SAVE_AT %rbx, -24
        call other
        pop %rbx
        pop %rbp
        .cfi_def_cfa rsp, 8
        ret""",
    "enter": """
        enter $32, $0
        .cfi_def_cfa rbp, 16
        .cfi_offset rbp, -16
        call other
        leave
        .cfi_def_cfa rsp, 8
        ret""",
    "exchanged-registers": """
        lea 8(%rsp), %rbx
        .cfi_def_cfa rbx, 0
        and $-64, %rsp
        sub $64, %rsp
        xchg %rbx, %r12
        .cfi_def_cfa r12, 0
        call other
        xchg %r12, %rbx
        .cfi_def_cfa rbx, 0
        lea -8(%rbx), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "exchanged-stack-pointer": """
        lea 8(%rdi), %rcx
        xchg %rcx, %rsp
        .cfi_def_cfa rcx, 8
        push %rax
        pop %rax
        xchg %rsp, %rcx
        .cfi_def_cfa rsp, 8
        ret""",
    "aligned": """
        FRAME
        and $-32, %rsp
        sub $64, %rsp
        call other
        leave
        .cfi_def_cfa rsp, 8
        ret""",
    "aligned-with-argument-pointer": """
        lea 8(%rsp), %r10
        .cfi_def_cfa r10, 0
        and $-32, %rsp
        push -8(%r10)
        push %rbp
        mov %rsp, %rbp
        .cfi_escape 0x10, 6, 2, 0x76, 0          # rbp is stored at rbp
        push %r10
        .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06    # the CFA is stored at rbp-8
        sub $40, %rsp
        call other
        mov -8(%rbp), %r10
        .cfi_def_cfa r10, 0
        leave
        lea -8(%r10), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "aligned-by-pushing-the-stack-pointer": """
        push %rsp
        ADJUST 8
        push (%rsp)
        ADJUST 8
        and $-16, %rsp
        .cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8    # *(rsp+8)+8
        call other
        mov 8(%rsp), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    # The expressions: the word at rsp + 8 + 8 * r9, and those at rsp + 120, rsp and rsp - 8; + 8.
    "saved-behind-an-array": """
        mov %edx, %r9d
        mov %rsp, %rax
        .cfi_def_cfa rax, 8
        push %rbx
        .cfi_offset rbx, -16
        neg %r9
        lea -16(%rsp,%r9,8), %rsp
        neg %r9
        and $-1024, %rsp
        mov %rax, 8(%rsp,%r9,8)
        .cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
        xor %eax, %eax
1:      dec %edi
        jne 1b
        mov 8(%rsp,%r9,8), %rsi
        .cfi_def_cfa rsi, 8
        mov -8(%rsi), %rbx
        .cfi_restore rbx
        lea (%rsi), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "copied-down-in-a-loop": """
        mov %rsp, %rax
        .cfi_def_cfa rax, 8
        push %rbx
        .cfi_offset rbx, -16
        sub $0x100, %rsp
        and $-64, %rsp
        mov %rax, 120(%rsp)
        .cfi_escape 0x0f, 6, 0x77, 0xf8, 0, 0x06, 0x23, 8
        xor %eax, %eax
        mov 120(%rsp), %rdx
        .cfi_def_cfa rdx, 8
        lea -128(%rsp), %rsp
        mov %rdx, -8(%rsp)
        .cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8
        xor %edx, %edx
1:      lea -128(%rsp), %rsp
        .cfi_escape 0x0f, 6, 0x77, 0xf8, 0, 0x06, 0x23, 8
        push 120(%rsp)
        .cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8
        lea 8(%rsp), %rsp
        .cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8
        dec %edi
        jne 1b
        mov -8(%rsp), %rsi
        .cfi_def_cfa rsi, 8
        mov -8(%rsi), %rbx
        .cfi_restore rbx
        lea (%rsi), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "aligned-by-a-computed-size": """
        mov %rsp, %rax
        .cfi_def_cfa rax, 8
        SAVE_AT %rbx, -16
        SAVE_AT %rbp, -24
        and $-64, %rsp
        sub %rcx, %rsp
        mov %rax, 24(%rsp)
        .cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8   # *(rsp+24)+8
        call other
        mov 24(%rsp), %rsi
        .cfi_def_cfa rsi, 8
        mov -16(%rsi), %rbp
        mov -8(%rsi), %rbx
        lea (%rsi), %rsp
        .cfi_def_cfa rsp, 8
        ret""",
    "alloca": """
        FRAME
        SAVE_AT %rbx, -24
        sub $8, %rsp
        lea 15(%rdi), %rax
        and $-16, %rax
        sub %rax, %rsp
        mov %rsp, %rdi
        call other
        lea -8(%rbp), %rsp
        pop %rbx
        pop %rbp
        .cfi_def_cfa rsp, 8
        ret""",
    "variable-array-in-a-loop": """
        FRAME
        sub $16, %rsp
1:      mov %rsp, %r12
        sub %rdi, %rsp
        call other
        mov %r12, %rsp
        dec %ebx
        jnz 1b
        leave
        .cfi_def_cfa rsp, 8
        ret""",
}

"""Instruction forms of i386; see code_forms_64.py."""

from __future__ import annotations

FORMS = {
    "push-pop": """
        SAVE %ebx
        SAVE %esi
        mov 12(%esp), %ebx
        push %ebx
        ADJUST 4
        push $7
        ADJUST 4
        call other
        add $8, %esp
        ADJUST -8
        RESTORE %esi
        RESTORE %ebx
        ret""",
    "push-all": """
        pusha
        ADJUST 32
        call other
        popa
        ADJUST -32
        ret""",
    "frame-pointer": """
        FRAME
        SAVE_AT %ebx, -12
        sub $20, %esp
        call other
        mov -4(%ebp), %ebx
        leave
        .cfi_def_cfa esp, 4
        ret""",
    "enter": """
        enter $16, $0
        .cfi_def_cfa ebp, 8
        .cfi_offset ebp, -8
        call other
        leave
        .cfi_def_cfa esp, 4
        ret""",
    "main": """
        lea 4(%esp), %ecx
        .cfi_def_cfa ecx, 0
        and $-16, %esp
        push -4(%ecx)
        push %ebp
        mov %esp, %ebp
        .cfi_escape 0x10, 5, 2, 0x75, 0          # ebp is stored at ebp
        push %ecx
        .cfi_escape 0x0f, 3, 0x75, 0x7c, 0x06    # the CFA is stored at ebp-4
        sub $20, %esp
        call other
        mov -4(%ebp), %ecx
        .cfi_def_cfa ecx, 0
        leave
        lea -4(%ecx), %esp
        .cfi_def_cfa esp, 4
        ret""",
    "main-with-saved-registers": """
        lea 4(%esp), %ecx
        .cfi_def_cfa ecx, 0
        and $-16, %esp
        push -4(%ecx)
        push %ebp
        mov %esp, %ebp
        .cfi_escape 0x10, 5, 2, 0x75, 0
        push %esi
        push %ebx
        push %ecx
        .cfi_escape 0x0f, 3, 0x75, 0x74, 0x06    # the CFA is stored at ebp-12
        .cfi_escape 0x10, 6, 2, 0x75, 0x7c
        .cfi_escape 0x10, 3, 2, 0x75, 0x78
        call get_pc_bx
        add $_GLOBAL_OFFSET_TABLE_, %ebx
        sub $12, %esp
        call other
        lea -12(%ebp), %esp
        pop %ecx
        .cfi_def_cfa ecx, 0
        pop %ebx
        pop %esi
        pop %ebp
        lea -4(%ecx), %esp
        .cfi_def_cfa esp, 4
        ret""",
    "program-counter-thunk": """
        SAVE %ebx
        call get_pc_bx
        add $_GLOBAL_OFFSET_TABLE_, %ebx
        sub $8, %esp
        ADJUST 8
        call other
        add $8, %esp
        ADJUST -8
        RESTORE %ebx
        ret""",
    "call-next": """
        SAVE %ebx
        call 1f
1:      ADJUST 4
        pop %ebx
        ADJUST -4
        add $_GLOBAL_OFFSET_TABLE_ + (. - 1b), %ebx
        call other
        RESTORE %ebx
        ret""",
    "callee-pops": """
        SAVE %ebx
        sub $8, %esp
        ADJUST 8
        push $1
        ADJUST 4
        call pops_4
        ADJUST -4
        push $1
        ADJUST 4
        push $2
        ADJUST 4
        call pops_8
        ADJUST -8
        add $8, %esp
        ADJUST -8
        RESTORE %ebx
        ret""",
    "callee-pops-structure-pointer": """
        sub $28, %esp
        ADJUST 28
        lea 8(%esp), %eax
        mov %eax, (%esp)
        call pops_4
        ADJUST -4
        sub $4, %esp
        ADJUST 4
        add $28, %esp
        ADJUST -28
        ret""",
    "unknown-callee-pops": """
        SAVE %ebx
        sub $24, %esp
        ADJUST 24
        mov 32(%esp), %ebx
        lea 12(%esp), %eax
        mov %eax, (%esp)
        mov (%ebx), %edx
        call *8(%edx)                            # its callee ends in ret $4
        ADJUST -4
        sub $4, %esp
        ADJUST 4
        push $1
        ADJUST 4
        push $2
        ADJUST 4
        push $3
        ADJUST 4
        push $4
        ADJUST 4
        call other
        add $40, %esp
        ADJUST -40
        RESTORE %ebx
        ret""",
    "unknown-callee-pops-on-one-path": """
        SAVE %ebx
        sub $24, %esp
        ADJUST 24
        mov 32(%esp), %ebx
        test %ebx, %ebx
        je 1f
        sub $12, %esp
        ADJUST 12
        push %ebx
        ADJUST 4
        call *%ebx                               # its callee ends in ret $4
        ADJUST -4
        add $12, %esp
        ADJUST -12
1:
        mov $0, %eax
        add $24, %esp
        ADJUST -24
        RESTORE %ebx
        ret""",
    "callee-pops-and-jumps": """
        push $1
        ADJUST 4
        call pops_by_jump
        ADJUST -4
        call other
        ret""",
    "pops-its-own-arguments": """
        FRAME
        sub $8, %esp
        call other
        leave
        .cfi_def_cfa esp, 4
        ret $12""",
    "aligned-by-pushing-the-stack-pointer": """
        FRAME
        and $-16, %esp
        sub $12, %esp
        push %eax
        call other
        leave
        .cfi_def_cfa esp, 4
        ret""",
    "alloca": """
        FRAME
        SAVE_AT %ebx, -12
        sub $4, %esp
        sub 8(%ebp), %esp
        push %esp
        call other
        mov -4(%ebp), %ebx
        leave
        .cfi_def_cfa esp, 4
        ret""",
    "epilogues-in-the-middle": """
        SAVE %ebx
        cmpl $1, 8(%esp)
        je 1f
        .cfi_remember_state
        RESTORE %ebx
        ret
1:      .cfi_restore_state
        sub $8, %esp
        ADJUST 8
        call other
        add $8, %esp
        ADJUST -8
        RESTORE %ebx
        jmp other""",
    "no-return-at-the-end": """
        sub $12, %esp
        ADJUST 12
        test %eax, %eax
        je 1f
        .cfi_remember_state
        add $12, %esp
        ADJUST -12
        ret
1:      .cfi_restore_state
        call abort@PLT""",
    "no-return-in-the-middle": """
        test %eax, %eax
        je 1f
        .cfi_remember_state
        SAVE %ebx
        sub $20, %esp
        ADJUST 20
        call abort@PLT
1:      .cfi_restore_state
        call other
        ret""",
    "own-fatal-function": """
        SAVE %ebx
        test %eax, %eax
        jns 1f
        .cfi_remember_state
        push $1
        ADJUST 4
        call fatal
1:      .cfi_restore_state
        call other
        RESTORE %ebx
        ret""",
    "probing-loop": """
        lea -0x5000(%esp), %eax
        .cfi_def_cfa eax, 0x5004
1:      sub $0x1000, %esp
        orl $0, (%esp)
        cmp %eax, %esp
        jne 1b
        .cfi_def_cfa_register esp
        sub $12, %esp
        ADJUST 12
        call other
        add $0x500c, %esp
        ADJUST -0x500c
        ret""",
    "retpoline": """
        call 1f
2:      pause
        lfence
        jmp 2b
1:      ADJUST 4
        mov %eax, (%esp)
        ret""",
    "split-stack": """
        cmp %gs:0x30, %esp
        jae 1f
        push $0
        ADJUST 4
        push $24
        ADJUST 4
        call __morestack
        ADJUST -8
        ret
1:      sub $24, %esp
        ADJUST 24
        call other
        add $24, %esp
        ADJUST -24
        ret""",
    "vector-instructions": """
        endbr32
        SAVE %ebx
        kmovd %k1, %eax
        vpcmpeqb (%edi), %ymm1, %k0
        vpternlogd $0x96, %zmm1, %zmm2, %zmm3
        SAVE %esi
        vmovdqu64 %zmm6, -64(%esi,%edx,4)
        vzeroupper
        call other
        RESTORE %esi
        RESTORE %ebx
        ret""",
    "segments": """
        push %gs
        ADJUST 4
        push %es
        ADJUST 4
        call other
        pop %es
        ADJUST -4
        pop %gs
        ADJUST -4
        ret""",
}

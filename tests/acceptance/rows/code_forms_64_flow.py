"""Where the control of x86-64 code goes: bodies with their tables; see code_forms_64.py."""

from __future__ import annotations

FLOWS = {
    "epilogues-in-the-middle": """
        SAVE %rbx
        sub $16, %rsp
        ADJUST 16
        cmp $1, %edi
        je 1f
        jb 2f
        .cfi_remember_state
        add $16, %rsp
        ADJUST -16
        RESTORE %rbx
        ret
1:      .cfi_restore_state
        .cfi_remember_state
        call other
        add $16, %rsp
        ADJUST -16
        RESTORE %rbx
        jmp other
2:      .cfi_restore_state
        call other
        add $16, %rsp
        ADJUST -16
        RESTORE %rbx
        ret""",
    "shrink-wrapping": """
        test %edi, %edi
        jne 1f
        xor %eax, %eax
        ret
1:      SAVE %rbx
        mov %edi, %ebx
        call other
        RESTORE %rbx
        test %eax, %eax
        jne 1b
        ret""",
    "tail-calls": """
        test %edi, %edi
        je other
        SAVE %rbp
        call other
        RESTORE %rbp
        cmp $3, %eax
        ja 1f
        jmp *%rax
1:      jmp other""",
    "no-return-at-the-end": """
        sub $8, %rsp
        ADJUST 8
        test %edi, %edi
        je 1f
        add $8, %rsp
        .cfi_remember_state
        ADJUST -8
        ret
1:      .cfi_restore_state
        call abort@PLT""",
    "no-return-in-the-middle": """
        test %edi, %edi
        je 1f
        .cfi_remember_state
        SAVE %rbx
        sub $16, %rsp
        ADJUST 16
        call abort@PLT
1:      .cfi_restore_state
        call other
        xor %eax, %eax
        ret""",
    "own-fatal-function": """
        SAVE %rbx
        test %edi, %edi
        jns 1f
        .cfi_remember_state
        push $1
        ADJUST 8
        call fatal
1:      .cfi_restore_state
        call other
        RESTORE %rbx
        ret""",
    "own-fatal-function-first": """
        SAVE %rbx
        test %edi, %edi
        jns 1f
        .cfi_remember_state
        sub $32, %rsp
        ADJUST 32
        call fatal
2:      .cfi_restore_state
        RESTORE %rbx
        ret
1:      ADJUST 8
        .cfi_rel_offset rbx, 0
        call other
        jmp 2b""",
    "no-return-behind-saving-by-moves": """
        sub $24, %rsp
        ADJUST 24
        test %edi, %edi
        je 1f
        .cfi_remember_state
        mov %rbx, 8(%rsp)
        .cfi_rel_offset rbx, 8
        mov %edi, %ebx
        call unknown@PLT
1:      .cfi_restore_state
        mov %rbx, 8(%rsp)
        .cfi_rel_offset rbx, 8
        mov %esi, %ebx
        call other
        mov 8(%rsp), %rbx
        .cfi_restore rbx
        add $24, %rsp
        ADJUST -24
        ret""",
    "undecodable-behind-the-end": """
        SAVE %rbx
        test %edi, %edi
        js 1f
        .cfi_remember_state
        RESTORE %rbx
        ret
1:      .cfi_restore_state
        call fatal
        .byte 0x06, 0x07""",
    "loop": """
        SAVE %rbx
        mov $10, %ebx
1:      push %rbx
        ADJUST 8
        call other
        pop %rbx
        ADJUST -8
        sub $1, %ebx
        jnz 1b
        RESTORE %rbx
        ret""",
    "call-next": """
        call 1f
1:      ADJUST 8
        pop %rax
        ADJUST -8
        SAVE %rbx
        call 2f
2:      ADJUST 8
        add $8, %rsp
        ADJUST -8
        RESTORE %rbx
        ret""",
    "retpoline": """
        call 1f
2:      pause
        lfence
        jmp 2b
1:      ADJUST 8
        mov %rax, (%rsp)
        ret""",
    "retpoline-dropping": """
        call 1f
2:      pause
        lfence
        jmp 2b
1:      ADJUST 8
        lea 8(%rsp), %rsp
        ADJUST -8
        ret""",
    "retpoline-inline-call": """
        sub $8, %rsp
        ADJUST 8
        jmp 4f
3:      .cfi_remember_state
        .cfi_def_cfa_offset 8    # it is called
        call 1f
2:      pause
        lfence
        jmp 2b
1:      ADJUST 8
        mov %rax, (%rsp)
        ret
4:      .cfi_restore_state
        call 3b
        add $8, %rsp
        ADJUST -8
        ret""",
    "split-stack": """
        cmp %fs:0x70, %rsp
        jae 1f
        mov $24, %r10d
        mov $0, %r11d
        call __morestack
        ret
1:      sub $24, %rsp
        ADJUST 24
        call other
        add $24, %rsp
        ADJUST -24
        ret""",
    "split-stack-large": """
        lea -0x2000(%rsp), %r11
        cmp %fs:0x70, %r11
        jb 2f
1:      .cfi_remember_state
        sub $0x2000, %rsp
        ADJUST 0x2000
        call other
        add $0x2000, %rsp
        ADJUST -0x2000
        ret
2:      .cfi_restore_state
        mov $0x2000, %r10
        mov $0, %r11
        call __morestack
        ret
        jmp 1b""",
    "landing-pads-of-jumps": """
        endbr64
        SAVE %rbp
        notrack jmp *%rdi
        endbr64
        call other
        RESTORE %rbp
        ret""",
    "probing-loop": """
        lea -0x5000(%rsp), %r11
        .cfi_def_cfa r11, 0x5008
1:      sub $0x1000, %rsp
        orq $0, (%rsp)
        cmp %r11, %rsp
        jne 1b
        .cfi_def_cfa_register rsp
        sub $8, %rsp
        ADJUST 8
        call other
        add $0x5008, %rsp
        ADJUST -0x5008
        ret""",
    "probing-unrolled": """
        sub $0x1000, %rsp
        ADJUST 0x1000
        orq $0, (%rsp)
        sub $0x1000, %rsp
        ADJUST 0x1000
        orq $0, (%rsp)
        call other
        add $0x2000, %rsp
        ADJUST -0x2000
        ret""",
    "vector-instructions": """
        SAVE %rbx
        kmovd %k1, %eax
        vpcmpeqb (%rdi), %ymm16, %k0
        vpternlogd $0x96, %zmm1, %zmm2, %zmm3{%k1}{z}
        kortestd %k0, %k0
        SAVE %r12
        vmovdqu64 %zmm16, -64(%rsi,%rdx,4)
        vpminub 0x12345678(%rip), %ymm17, %ymm18
        kmovq %k3, %r11
        kunpckdq %k1, %k2, %k3
        vptestnmb %ymm16, %ymm17, %k2
        vzeroupper
        jz 1f
        call other
1:      RESTORE %r12
        RESTORE %rbx
        ret""",
    "system-instructions": """
        SAVE %rbx
        cpuid
        rdtscp
        xgetbv
        rdpkru
        xsavec 64(%rsp)
        rdfsbase %rax
        rep stosq
        lock cmpxchg16b (%rdi)
        syscall
        RESTORE %rbx
        ret""",
    "stack-pointer-kept-in-a-register": """
        mov %rsp, %r11
        .cfi_def_cfa_register r11
        and $-64, %rsp
        sub $128, %rsp
        vmovdqa %ymm0, (%rsp)
        mov %r11, %rsp
        .cfi_def_cfa_register rsp
        ret""",
    "exits-by-no-return-jump": """
        sub $8, %rsp
        ADJUST 8
        test %edi, %edi
        je 1f
        .cfi_remember_state
        add $8, %rsp
        ADJUST -8
        ret
1:      .cfi_restore_state
        call other
        ud2""",
    # Most calls stand at a known depth, and the targets of the jumps do not.
    "indirect-jumps-behind-alloca": """
        FRAME
        call other
        call other
        call other
        lea 15(%rdi), %rax
        and $-16, %rax
        sub %rax, %rsp
        jmp *(%rdx,%rdi,8)
        mov %rsp, %rdi
        call other
        jmp *(%rdx,%rdi,8)
        leave
        .cfi_def_cfa rsp, 8
        ret""",
    "exception-landing-pad": """
        .cfi_lsda 0x1b, table
        .cfi_personality 0x9b, personality
        SAVE %rbx
        sub $16, %rsp
        ADJUST 16
9:      call other
        add $16, %rsp
        .cfi_remember_state
        ADJUST -16
        RESTORE %rbx
        ret
8:      .cfi_restore_state
        mov %rax, %rdi
        call _Unwind_Resume@PLT
        .pushsection .gcc_except_table, "a"
table:  .byte 0xff, 0xff, 0x01, 4f - 3f
3:      .uleb128 9b - f, 5, 8b - f, 0
4:      .popsection
        .pushsection .data
personality: .quad 0
        .popsection""",
}

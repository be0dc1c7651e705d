# A program that is the same wherever it is assembled: no library, no compiler. A customer is NULL.
    .text
    .globl _ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi
    .type _ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi, @function
_ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi:
    .cfi_startproc
    mov 8(%rdi), %eax
    ret
    .cfi_endproc
    .size _ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi, .-_ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi
    .p2align 4
    .globl total_of
    .type total_of, @function
total_of:
    .cfi_startproc
    sub $24, %rsp
    .cfi_adjust_cfa_offset 24
    call _ZN4shop5tableINS_3keyIiEENS_5valueIdEEE4findEi
    add %ebx, %eax
    add $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    .cfi_endproc
    .size total_of, .-total_of
    .p2align 4
    .globl main
    .type main, @function
main:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    xor %edi, %edi
    call total_of
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .cfi_endproc
    .size main, .-main
    .p2align 4
    .globl _start
    .type _start, @function
_start:
    .cfi_startproc
    .cfi_undefined rip
    xor %ebp, %ebp
    and $-16, %rsp
    call main
    hlt
    .cfi_endproc
    .size _start, .-_start
    .section .note.GNU-stack, "", @progbits

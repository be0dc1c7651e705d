/* Methods as compilers make them at run time. Each takes the next of the list and calls it; the
 * tables say where the callers are while the methods run in the file, and nothing does in copies.
 * PAD: what stands between methods. */
#ifdef __x86_64__
#define AX %rax
#define BX %rbx
#define BP %rbp
#define SP %rsp
#define CX %rcx
#define DX %rdx
#define LIST %r12
#define OTHER %r15
#define W 8
#else
#define AX %eax
#define BX %ebx
#define BP %ebp
#define SP %esp
#define CX %ecx
#define DX %edx
#define LIST %esi
#define OTHER %edi
#define W 4
#endif
#define PAD_int3 .fill 5, 1, 0xcc; .balign 16, 0xcc
#define PAD_nop .p2align 4
#define PAD_zero .balign 16, 0
#define PAD_data .balign 8, 0; .quad 0x7f37431fe210, 0x0000000055000000; .balign 8, 0
#define PAD_none
#define NAMED(kind) PAD_##kind
#define BETWEEN(kind) NAMED(kind)

#define TAKE mov (LIST), AX; add $W, LIST
#define NEXT TAKE; call *AX
#define METHOD(name) .globl method_##name; method_##name: .cfi_startproc
#define END .cfi_endproc; BETWEEN(PAD)
#define PUSH(reg, at) push reg; .cfi_def_cfa_offset at * W; .cfi_offset reg, -at * W
#define FRAME PUSH(BP, 2); mov SP, BP; .cfi_def_cfa_register BP

  .text
  .globl methods_begin, methods_end, enter
  .balign 64
methods_begin:
  .quad 0 /* nothing begins here */

METHOD(a) /* a frame pointer, and the registers below it */
  FRAME
  push BX
  .cfi_offset BX, -3 * W
  sub $3 * W, SP
  NEXT
  lea -W(BP), SP
  pop BX
  pop BP
  .cfi_def_cfa SP, W
  ret
END

METHOD(b) /* .NET's: the frame pointer is set behind all pushes */
  PUSH(BP, 2)
  PUSH(OTHER, 3)
  PUSH(BX, 4)
  lea 2 * W(SP), BP
  .cfi_def_cfa BP, 2 * W
  NEXT
  nop
  lea -2 * W(BP), SP
  pop BX
  pop OTHER
  pop BP
  .cfi_def_cfa SP, W
  ret
END

METHOD(c) /* no frame pointer */
  PUSH(BX, 2)
  sub $2 * W, SP
  .cfi_def_cfa_offset 4 * W
  movl $0, (SP)
  NEXT
  add $2 * W, SP
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
END

METHOD(d) /* nor any register */
  push AX
  .cfi_def_cfa_offset 2 * W
  NEXT
  nop
  add $W, SP
  .cfi_def_cfa_offset W
  ret
END

METHOD(e) /* the frame pointer's register holds a number */
  PUSH(BP, 2)
  sub $4 * W, SP
  .cfi_def_cfa_offset 6 * W
  mov $0x1234, BP
  NEXT
  add $4 * W, SP
  .cfi_def_cfa_offset 2 * W
  pop BP
  .cfi_def_cfa_offset W
  ret
END

METHOD(f) /* a thunk */
  TAKE
  jmp *AX
END

METHOD(g) /* the frame is left by one instruction */
  FRAME
  sub $64, SP
  NEXT
  leave
  .cfi_def_cfa SP, W
  ret
END

METHOD(h) /* behind the call a branch over a failure leads to the return */
  FRAME
  push BX
  .cfi_offset BX, -3 * W
  push BX
  NEXT
  test AX, AX
  jne 1f
  mov $7, AX
  call *AX
  int3
1:
  lea -W(BP), SP
  pop BX
  pop BP
  .cfi_def_cfa SP, W
  ret
END

METHOD(i) /* a loop stands behind the call */
  PUSH(BX, 2)
  sub $0x500, SP
  .cfi_def_cfa_offset 2 * W + 0x500
  NEXT
  mov $9, BX
1:
  test BX, BX
  je 2f
  dec BX
  jmp 1b
2:
  add $0x500, SP
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
END

METHOD(j) /* nothing stands behind the call */
  FRAME
  sub $4 * W, SP
  movl $0, (SP)
  movl $0, 2 * W(SP)
  NEXT
END

METHOD(k) /* two ways out, and the second is the way of the call */
  PUSH(BX, 2)
  PUSH(OTHER, 3)
  sub $W, SP
  .cfi_def_cfa_offset 4 * W
  test LIST, LIST
  jne 1f
  add $W, SP
  .cfi_remember_state
  .cfi_def_cfa_offset 3 * W
  pop OTHER
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
1:
  .cfi_restore_state
  NEXT
  pop BX
  .cfi_def_cfa_offset 3 * W
  pop OTHER
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
END

METHOD(l) /* calls from a function of its own, which takes the return address off the stack */
  PUSH(BX, 2)
  sub $3 * W, SP
  .cfi_def_cfa_offset 5 * W
  call 1f
  jmp 2f
1:
  .cfi_def_cfa_offset 6 * W
  pop W(SP)
  .cfi_def_cfa_offset 5 * W
  NEXT
  test AX, AX
  je 2f
  push W(SP)
  .cfi_def_cfa_offset 6 * W
  ret
2:
  .cfi_def_cfa_offset 5 * W
  add $3 * W, SP
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
END

METHOD(m) /* takes its arguments off the stack, and as many as there are: V8's */
  FRAME
  push BX
  .cfi_offset BX, -3 * W
  push AX
  NEXT
  mov -2 * W(BP), %ecx
  mov -W(BP), BX
  mov BP, SP
  pop BP
  .cfi_remember_state
  .cfi_def_cfa SP, W
  cmp $2, %ecx
  jg 1f
  ret $2 * W
1:
  pop DX
  lea (SP, CX, W), SP
  push DX
  ret
  .cfi_restore_state
END

METHOD(x) /* dies without having a frame */
  xor AX, AX
  mov (AX), AX
  ret
END

METHOD(y) /* dies in its prologue */
  PUSH(BX, 2)
  xor AX, AX
  mov (AX), AX
  sub $2 * W, SP
  .cfi_def_cfa_offset 4 * W
  nop
  add $2 * W, SP
  .cfi_def_cfa_offset 2 * W
  pop BX
  .cfi_def_cfa_offset W
  ret
END

METHOD(z) /* dies before it has its frame, and takes its arguments off the stack */
  xor AX, AX
  mov (AX), AX
  FRAME
  push AX
  NEXT
  mov BP, SP
  pop BP
  .cfi_def_cfa SP, W
  ret $2 * W
END
  .fill 32, 1, 0xcc
methods_end:

  .balign 16
  .type enter, @function
enter: /* enter(list) */
  .cfi_startproc
  FRAME
  push LIST
  .cfi_offset LIST, -3 * W
  push BX
  .cfi_offset BX, -4 * W
#ifdef __x86_64__
  mov %rdi, LIST
#else
  mov 8(BP), LIST
#endif
  NEXT
  pop BX
  pop LIST
  leave
  .cfi_def_cfa SP, W
  ret
  .cfi_endproc
  .size enter, . - enter
  .section .note.GNU-stack, "", @progbits

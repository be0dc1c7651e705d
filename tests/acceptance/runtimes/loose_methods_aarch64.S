/* Methods of AArch64 as compilers make them at run time: see loose_methods.S. The list of those
 * that are still to be called is in x28. */
#define PAD_zero .balign 16, 0
#define PAD_nop .p2align 4
#define PAD_data .balign 8, 0; .quad 0x7f37431fe210, 0x0000000055000000
#define PAD_none
#define NAMED(kind) PAD_##kind
#define BETWEEN(kind) NAMED(kind)

#define TAKE ldr x0, [x28], #8
#define NEXT TAKE; blr x0
#define METHOD(name) .globl method_##name; method_##name: .cfi_startproc
#define END .cfi_endproc; BETWEEN(PAD)
#define AT(reg, at) .cfi_offset reg, at
#define RECORD(size) \
  stp x29, x30, [sp, -size]!; .cfi_def_cfa_offset size; AT(x29, -size); AT(x30, 8 - size); \
  mov x29, sp
#define LEFT(size) ldp x29, x30, [sp], size; .cfi_def_cfa_offset 0

  .text
  .globl methods_begin, methods_end, enter
  .balign 64
methods_begin:
  .quad 0 /* nothing begins here */

METHOD(a) /* the frame record lies lowest */
  RECORD(48)
  str x19, [sp, #16]
  AT(x19, -32)
  NEXT
  ldr x19, [sp, #16]
  LEFT(48)
  ret
END

METHOD(b) /* the frame record lies on top */
  sub sp, sp, #64
  .cfi_def_cfa_offset 64
  stp x29, x30, [sp, #48]
  AT(x29, -16)
  AT(x30, -8)
  add x29, sp, #48
  .cfi_def_cfa x29, 16
  NEXT
  .cfi_def_cfa sp, 64
  ldp x29, x30, [sp, #48]
  add sp, sp, #64
  .cfi_def_cfa_offset 0
  ret
END

METHOD(c) /* no frame record */
  str x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  AT(x30, -16)
  NEXT
  ldr x30, [sp], #16
  .cfi_def_cfa_offset 0
  ret
END

METHOD(d) /* nor that, and more registers */
  stp x19, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  AT(x19, -32)
  AT(x30, -24)
  NEXT
  ldp x19, x30, [sp], #32
  .cfi_def_cfa_offset 0
  ret
END

METHOD(f) /* a thunk */
  TAKE
  br x0
END

METHOD(h) /* behind the call a branch over a failure leads to the return */
  RECORD(32)
  NEXT
  cbz x0, 1f
  blr x0
  brk #1
1:
  mov sp, x29
  LEFT(32)
  ret
END

METHOD(j) /* nothing stands behind the call */
  RECORD(32)
  NEXT
END

METHOD(k) /* two ways out, and the second is the way of the call */
  stp x19, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  AT(x19, -32)
  AT(x30, -24)
  cbnz x28, 1f
  ldp x19, x30, [sp], #32
  .cfi_remember_state
  .cfi_def_cfa_offset 0
  ret
1:
  .cfi_restore_state
  NEXT
  ldp x19, x30, [sp], #32
  .cfi_def_cfa_offset 0
  ret
END

METHOD(x) /* dies without having a frame */
  mov x0, #0
  str x0, [x0]
  ret
END

METHOD(y) /* dies in its prologue */
  sub sp, sp, #32
  .cfi_def_cfa_offset 32
  mov x0, #0
  str x0, [x0]
  str x30, [sp, #16]
  AT(x30, -16)
  NEXT
  ldr x30, [sp, #16]
  add sp, sp, #32
  .cfi_def_cfa_offset 0
  ret
END

METHOD(z) /* dies before it has its frame */
  mov x0, #0
  str x0, [x0]
  RECORD(16)
  NEXT
  LEFT(16)
  ret
END
  .quad 0, 0
methods_end:

  .balign 16
  .type enter, @function
enter: /* enter(list) */
  .cfi_startproc
  RECORD(32)
  str x28, [sp, #16]
  AT(x28, -16)
  mov x28, x0
  NEXT
  ldr x28, [sp, #16]
  LEFT(32)
  ret
  .cfi_endproc
  .size enter, . - enter
  .section .note.GNU-stack, "", @progbits
